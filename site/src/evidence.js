// What a value rests on: its bottleneck, the cells with their settings and files, their load steps.
import { definitions, element } from "./dom.js";
import { ABSENT, guaranteeOf, headerOf, isOfGuarantee, shown } from "./selection.js";
import { plainTable } from "./table.js";

/** @typedef {import("./dom.js").Child} Child */
/** @typedef {import("./selection.js").Line} Line */
/** @typedef {import("./selection.js").Metric} Metric */
/** @typedef {import("../types/data").Evidence} Evidence */
/** @typedef {import("../types/data").Suite} Suite */

const BOTTLENECK = "bottleneck"; // title of a column

/**
 * @param {Suite} suite @param {Metric} metric @param {Line} line
 * @returns {Node[]}
 */
export function evidenceOf(suite, metric, line) {
  const { row, figure, ratio } = line;
  const cells = row.evidence.map((at) => suite.evidence[at]).filter((cell) => cell !== undefined);
  return [
    definitions([
      [metric.header, shown(figure)],
      ["ratio to the baseline", ratio],
      ["a 201 guarantees", guaranteeOf(suite, row)],
      ["table", metric.table.title],
    ]),
    ...bottlenecks(suite, line),
    ...cells.flatMap(cellOf),
    ...singles(suite, line),
  ];
}

/**
 * What tables with a bottleneck say of the same path on the same host, a list for each row.
 * @param {Suite} suite @param {Line} line
 * @returns {Node[]}
 */
function bottlenecks(suite, { row }) {
  const tables = suite.tables.filter(
    ({ single, columns }) => !single && columns.some(({ title }) => title === BOTTLENECK),
  );
  const lists = tables.flatMap(({ columns, names, rows }) =>
    rows
      .filter(({ path, host }) => path === row.path && host === row.host)
      .map(({ cells }) =>
        columns.map((one, at) => [headerOf(one), isOfGuarantee(one) ? ABSENT : shown(cells[at] ?? "")]),
      )
      .map((pairs) => definitions(pairs.slice(names).filter(([, words]) => words !== ABSENT))),
  );
  return lists.length ? [element("h3", {}, "Bottleneck"), ...lists] : [];
}

/** @param {Evidence} cell @returns {Node[]} */
function cellOf(cell) {
  const role = cell.role === "measured" ? "" : ` (${cell.role})`;
  const files = cell.files.flatMap((name) => [element("a", { href: encodeURI(cell.folder + name) }, name), " "]);
  return [
    element("h3", {}, `Cell ${cell.name}, block ${cell.block}${role}`),
    definitions([
      ["verdict", [cell.verdict, ...cell.reasons].join("; ")],
      ["started", cell.started_at],
      ["host", cell.host],
      ["commit", cell.commit],
      ["settings", inWords(cell.settings)],
      ["settings of the guarantee, as read back", inWords(cell.guarantees)],
      ["versions", inWords(cell.versions)],
      ["raw files", files.length ? element("span", {}, ...files) : ""],
    ]),
  ];
}

/** @param {Record<string, string>} given */
const inWords = (given) =>
  Object.entries(given)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");

/**
 * Load steps and runs of the same cells.
 * @param {Suite} suite @param {Line} line
 * @returns {Node[]}
 */
function singles(suite, { row }) {
  return suite.tables
    .filter(({ single }) => single)
    .flatMap((table) => {
      const own = table.rows.filter(({ evidence }) => evidence.some((at) => row.evidence.includes(at)));
      return own.length ? [element("h3", {}, table.title), plainTable(table, own)] : [];
    });
}
