// Tables of the selection, and of any other rows.
import { element } from "./dom.js";
import { ABSENT, guaranteeOf, headerOf, isOfGuarantee, labelOf, namesOf, shown } from "./selection.js";

/** @typedef {import("./dom.js").Child} Child */
/** @typedef {import("./selection.js").Line} Line */
/** @typedef {import("./selection.js").Metric} Metric */
/** @typedef {import("../types/data").Row} Row */
/** @typedef {import("../types/data").Suite} Suite */
/** @typedef {import("../types/data").Table} Table */

/**
 * A table that scrolls by itself. The first cell of each line names it.
 * @param {string} label @param {string[]} headers @param {Child[][]} lines
 */
function scrolled(label, headers, lines) {
  const head = headers.map((header) => element("th", { scope: "col" }, header));
  const body = lines.map(([name = "", ...cells]) =>
    element("tr", {}, element("th", { scope: "row" }, name), ...cells.map(cellOf)),
  );
  const table = element(
    "table",
    { "aria-label": label },
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...body),
  );
  return element("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" }, table);
}

/** @param {Child} content */
function cellOf(content) {
  const length = typeof content === "string" ? content.length : 0;
  return element("td", { class: length > 120 ? "longest" : length > 16 ? "long" : "text" }, content);
}

/**
 * The chosen figures, each a button that opens its evidence, with their ratios, what a 201 guarantees, and what else the
 * rows say in words.
 * @param {Suite} suite @param {Metric} metric @param {Line[]} lines @param {string} ratio header of the ratios; empty: none
 * @param {(line: Line) => void} open
 */
export function selectionTable(suite, { table, header }, lines, ratio, open) {
  const guaranteed = lines.some(({ row }) => row.durability);
  const words = table.columns
    .map((column, place) => ({ column, place }))
    .filter(({ column, place }) => place >= table.names && !isOfGuarantee(column))
    .filter(({ place }) => table.rows.every((row) => typeof row.cells[place] === "string"));
  const headers = [
    namesOf(table),
    header,
    ...(ratio ? [ratio] : []),
    ...(guaranteed ? ["a 201 guarantees"] : []),
    ...words.map(({ column }) => headerOf(column)),
  ];
  const body = lines.map((line, at) => [
    line.label,
    valueOf(line, at, () => open(line)),
    ...(ratio ? [line.ratio] : []),
    ...(guaranteed ? [guaranteeOf(suite, line.row) || ABSENT] : []),
    ...words.map(({ place }) => shown(line.row.cells[place] ?? "")),
  ]);
  return scrolled(`${table.title}: ${header}`, headers, body);
}

/** @param {Line} line @param {number} at @param {() => void} open */
function valueOf({ row, label, figure }, at, open) {
  if (!row.evidence.length) return shown(figure);
  const properties = { type: "button", id: `value-${at}`, "aria-label": `${shown(figure)}: evidence of ${label}` };
  return element("button", { ...properties, onclick: open }, shown(figure));
}

/**
 * Rows as the suite's page has them.
 * @param {Table} table @param {Row[]} rows
 */
export function plainTable(table, rows) {
  const columns = table.columns.map((column, place) => ({ column, place })).slice(table.names);
  const used = columns.filter(({ place }) => rows.some((row) => !["–", ""].includes(shown(row.cells[place] ?? ""))));
  return scrolled(
    table.title,
    [namesOf(table), ...used.map(({ column }) => headerOf(column))],
    rows.map((row) => [labelOf(table, row), ...used.map(({ place }) => shown(row.cells[place] ?? ""))]),
  );
}
