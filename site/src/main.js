// The page: reads the choice from the address, shows what belongs to it, and writes each change back to the address.
import { chartOf } from "./chart.js";
import { choiceOf, hashOf } from "./choice.js";
import { byId, element, fillSelect } from "./dom.js";
import { evidenceOf } from "./evidence.js";
import {
  NO_BASELINE,
  baselineOf,
  baselinesOf,
  classInWords,
  classOf,
  isNamed,
  linesOf,
  metricOf,
  metricsOf,
} from "./selection.js";
import { plainTable, selectionTable } from "./table.js";

/** @typedef {import("./choice.js").Choice} Choice */
/** @typedef {import("./selection.js").Line} Line */
/** @typedef {import("./selection.js").Metric} Metric */
/** @typedef {import("../types/data").Site} Site */
/** @typedef {import("../types/data").Suite} Suite */
/** @typedef {import("../types/data").Table} Table */

const LOOK_MS = 5_000; // for new figures, while a suite runs
const DATA = "site/data.js";

/** @type {Suite[]} */
let suites = [];

/** @param {Partial<Choice>} change */
function choose(change) {
  location.hash = hashOf({ ...choiceOf(location.hash), ...change });
}

/** @param {Partial<Choice>} change one of many, such as of a letter: the button Back skips it */
function adjust(change) {
  location.replace(hashOf({ ...choiceOf(location.hash), ...change }));
}

/** @param {Line} line */
const open = ({ label }) => choose({ value: label });

function render() {
  const choice = choiceOf(location.hash);
  const suite = suites.find(({ name }) => name === choice.suite) ?? suites[0];
  if (!suite) return;
  const focused = document.activeElement?.id;
  const metrics = metricsOf(suite);
  const metric = metricOf(metrics, choice);
  fillFilters(suite, metrics, metric, choice);
  fillSuite(suite, metrics, choice);
  const lines = metric ? linesOf(metric, choice, baselineOf(suite, metric, choice)) : [];
  if (metric) fillSelection(suite, metric, lines, choice);
  if (focused) document.getElementById(focused)?.focus(); // before a dialog opens, which gives it back
  fillEvidence(
    suite,
    metric,
    lines.find(({ label }) => label === choice.value),
  );
}

/**
 * Its sentences, and its tables that have no metric: the suite's first table open, the others closed until a reader opens them.
 * @param {Suite} suite @param {Metric[]} metrics @param {Choice} choice
 */
function fillSuite(suite, metrics, choice) {
  byId("answer").textContent = suite.answer.join(" ");
  byId("facts").textContent = factsOf(suite);
  const compared = new Set(metrics.map(({ table }) => table));
  const others = suite.tables.filter((table) => !table.single && !compared.has(table) && table.rows.length);
  const first = others.filter((table) => table === suite.tables[0]);
  byId("first").replaceChildren(
    ...first.flatMap((table) => [element("h3", {}, table.title), ...inFull(table, choice)]),
  );
  const open = new Set([...document.querySelectorAll("details[open]")].map(({ id }) => id));
  const rest = others.slice(first.length).map((table) => {
    const id = `more-${table.key}`;
    return element(
      "details",
      { id, open: open.has(id) },
      element("summary", {}, table.title),
      ...inFull(table, choice),
    );
  });
  byId("more").replaceChildren(...rest);
}

/** @param {Table} table @param {Choice} choice */
function inFull(table, choice) {
  const rows = table.rows.filter((row) => isNamed(table, row, choice));
  return [element("p", { class: "soft" }, table.caption), plainTable(table, rows)];
}

/** @param {Suite} suite */
function factsOf({ status, cells_ended, cells_planned, facts }) {
  return status === "finished" ? facts : `${status}: ${cells_ended} of ${cells_planned} cells. ${facts}`;
}

/** @param {Suite} suite @param {Metric[]} metrics @param {Metric | undefined} metric @param {Choice} choice */
function fillFilters(suite, metrics, metric, choice) {
  fillSelect(byId("suite"), [["", suites.map(({ name, title }) => [name, `${name}: ${title}`])]], suite.name);
  /** @type {Map<string, [string, string][]>} */
  const groups = new Map(metrics.map(({ table }) => [table.title, []]));
  for (const { key, table, header } of metrics) groups.get(table.title)?.push([key, header]);
  fillSelect(byId("metric"), groups, metric?.key ?? "");
  const paths = metric ? baselinesOf(suite, metric) : [];
  const baseline = metric ? baselineOf(suite, metric, choice) : NO_BASELINE;
  fillSelect(byId("baseline"), [["", [[NO_BASELINE, "no ratio"], ...paths]]], baseline);
  const rows = metrics.flatMap(({ table }) => table.rows).filter(({ variant }) => variant !== null);
  const variants = suite.variants.filter(({ name }) => rows.some(({ variant }) => variant === name));
  fillBoxes("paths", new Map(variants.map(({ name, title }) => [name, title])), choice.paths);
  const classes = [...new Set(rows.map(classOf))].sort();
  fillBoxes("classes", new Map(classes.map((one) => [one, classInWords(one)])), choice.classes);
  /** @type {HTMLInputElement} */
  const words = byId("words");
  if (words.value.trim() !== choice.words) words.value = choice.words;
}

/**
 * Boxes to check; all of them are the usual choice, and one alone is none.
 * @param {"paths" | "classes"} name @param {Map<string, string>} titles @param {string[] | null} checked
 */
function fillBoxes(name, titles, checked) {
  const all = [...titles.keys()];
  const chosen = checked ?? all;
  const boxes = [...titles].map(([key, title]) => {
    const change = () => {
      const now = chosen.includes(key) ? chosen.filter((one) => one !== key) : [...chosen, key];
      choose({ [name]: all.every((one) => now.includes(one)) ? null : now });
    };
    const properties = { type: "checkbox", id: `${name}-${key}`, checked: chosen.includes(key), onchange: change };
    return element("label", {}, element("input", properties), title);
  });
  byId(name).replaceChildren(...boxes);
  byId(`${name}-boxes`).hidden = boxes.length < 2;
}

/** @param {Suite} suite @param {Metric} metric @param {Line[]} lines @param {Choice} choice */
function fillSelection(suite, metric, lines, choice) {
  const baseline = baselineOf(suite, metric, choice);
  const title = baselinesOf(suite, metric).get(baseline);
  const chart = byId("chart");
  const drawn = chartOf(lines, metric.header, chart.clientWidth, open);
  chart.replaceChildren(drawn ?? element("p", { class: "soft" }, "No value to draw."));
  byId("shown").textContent = `${lines.length} of ${metric.table.rows.length} rows: ${metric.header}`;
  byId("caption").textContent = metric.table.caption;
  const notes = title
    ? [
        `× ${title}: value ÷ value of the same table; not resolved: one of the two is a bound, or their intervals are too close. Differences may be noise.`,
      ]
    : [];
  byId("selection").replaceChildren(
    selectionTable(suite, metric, lines, title ? `× ${title}` : "", open),
    ...[...metric.table.notes, ...notes].map((note) => element("p", { class: "soft" }, note)),
  );
}

/** @param {Suite} suite @param {Metric | undefined} metric @param {Line | undefined} line */
function fillEvidence(suite, metric, line) {
  /** @type {HTMLDialogElement} */
  const dialog = byId("evidence");
  if (!metric || !line) {
    dialog.close();
    return;
  }
  byId("evidence-title").textContent = line.label;
  byId("evidence-body").replaceChildren(...evidenceOf(suite, metric, line));
  if (!dialog.open) dialog.showModal();
}

/** Reads data.js until no suite runs. */
function follow() {
  if (suites.every(({ status }) => status !== "running")) return;
  setTimeout(() => {
    const script = element("script", { src: `${DATA}?${Date.now()}` });
    const ended = () => {
      script.remove();
      follow();
    };
    script.addEventListener("load", ended);
    script.addEventListener("error", ended);
    document.body.append(script);
  }, LOOK_MS);
}

/** @param {string} id @param {keyof Choice} name @param {Partial<Choice>} more */
function listen(id, name, more = {}) {
  /** @type {HTMLSelectElement} */
  const select = byId(id);
  select.addEventListener("change", () => choose({ ...more, [name]: select.value, value: "" }));
}

let data = "";
globalThis.writepath = (site) => {
  const now = JSON.stringify(site);
  if (now === data) return;
  const first = !data;
  [data, suites] = [now, site.suites];
  byId("explorer").hidden = false;
  render();
  if (!first) return;
  if (location.hash) byId("explorer").scrollIntoView();
  follow();
};

listen("suite", "suite", { metric: "", baseline: "", paths: null, classes: null });
listen("metric", "metric");
listen("baseline", "baseline");
/** @type {HTMLInputElement} */
const words = byId("words");
words.addEventListener("input", () => adjust({ words: words.value.trim(), value: "" }));
byId("opening").addEventListener("click", ({ target }) => {
  if (target instanceof HTMLAnchorElement) byId("explorer").scrollIntoView();
});
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("evidence").addEventListener("close", () => choose({ value: "" }));
byId("evidence-close").addEventListener("click", () => choose({ value: "" }));
window.addEventListener("hashchange", render);
window.addEventListener("resize", render);
