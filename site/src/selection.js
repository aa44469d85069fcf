// Which figures of a suite belong to a choice, and their ratios to a baseline. Pure functions.

/** @typedef {import("./choice.js").Choice} Choice */
/** @typedef {import("../types/data").Figure} Figure */
/** @typedef {import("../types/data").Row} Row */
/** @typedef {import("../types/data").Suite} Suite */
/** @typedef {import("../types/data").Table} Table */

/**
 * A column of figures.
 * @typedef {object} Metric
 * @property {string} key
 * @property {Table} table
 * @property {number} place of its column
 * @property {string} header title and unit
 */

/**
 * A row of the selection.
 * @typedef {object} Line
 * @property {Row} row
 * @property {string} label what names the row
 * @property {string | Figure} figure
 * @property {string} ratio to the baseline
 */

export const NO_CLASS = "none";
export const NO_BASELINE = "none";
export const ABSENT = "–";
const NOT_RESOLVED = "not resolved";
/** @type {Record<string, {sign: string, words: string}>} Signs are those of the chart. */
const CLASSES = {
  A: { sign: "■", words: "on disk before the 201" },
  B: { sign: "◆", words: "in memory or one copy" },
  C: { sign: "●", words: "handed over to the client library" },
};
const RATIO = new Intl.NumberFormat("en-US", { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });

/** @param {Row} row */
export const classOf = (row) => row.durability || NO_CLASS;

/** @param {string} name of a durability class, or NO_CLASS */
export function classInWords(name) {
  const known = CLASSES[name];
  return known ? `${name} ${known.sign} ${known.words}` : `▲ ${name === NO_CLASS ? "no 201" : name}`;
}

/** @param {Suite} suite @param {Row} row */
export function guaranteeOf({ variants }, { variant, durability }) {
  const words = variants.find(({ name }) => name === variant)?.acknowledges;
  return words && durability ? `${words} (class ${durability})` : "";
}

/** @param {{title: string}} column whether it says what guaranteeOf says */
export const isOfGuarantee = ({ title }) => ["a 201 guarantees", "durability class"].includes(title);

/** @param {string | Figure} cell */
export const shown = (cell) => (typeof cell === "string" ? cell : cell.shown);

/** @param {{title: string, unit: string}} column */
export const headerOf = ({ title, unit }) => (unit ? `${title} (${unit})` : title);

/**
 * Tables of single cells and load steps are evidence, and have none.
 * @param {Suite} suite
 * @returns {Metric[]}
 */
export function metricsOf(suite) {
  return suite.tables
    .filter((table) => !table.single)
    .flatMap((table) =>
      table.columns
        .map((column, place) => ({ key: `${table.key}.${column.key}`, table, place, header: headerOf(column) }))
        .filter(({ place }) => place >= table.names && table.rows.some((row) => isOwnFigure(row, place))),
    );
}

/**
 * The chosen one, else the first of its table with a unit whose values differ: what all rows have alike says little.
 * @param {Metric[]} metrics @param {Choice} choice
 */
export function metricOf(metrics, choice) {
  const first = metrics.filter(({ table }) => table === metrics[0]?.table);
  return metrics.find(({ key }) => key === choice.metric) ?? first.find(isTelling) ?? first[0];
}

/** @param {Metric} metric */
function isTelling({ table, place }) {
  return table.columns[place]?.unit && new Set(table.rows.map(({ cells }) => shown(cells[place] ?? ""))).size > 1;
}

/** @param {Row} row @param {number} place */
const isOwnFigure = (row, place) => row.variant !== null && typeof row.cells[place] === "object";

/**
 * Of what names a row, the path first.
 * @template T
 * @param {Table} table @param {T[]} given one of each column
 */
function naming({ columns, names }, given) {
  const isPath = (/** @type {T} */ _, /** @type {number} */ at) => columns[at]?.path;
  const own = given.slice(0, names);
  return [...own.filter(isPath), ...own.filter((one, at) => !isPath(one, at))];
}

/**
 * What names a row, in one line.
 * @param {Table} table @param {Row} row
 */
export function labelOf(table, row) {
  const names = naming(table, row.cells).map(shown).join(" · ");
  return row.mark ? `${names} (${row.mark})` : names;
}

/** @param {Table} table */
export const namesOf = (table) =>
  naming(table, table.columns)
    .map(({ title }) => title)
    .join(" · ");

/**
 * Whether what names a row has all words of the choice.
 * @param {Table} table @param {Row} row @param {Choice} choice
 */
export function isNamed(table, row, { words }) {
  const label = labelOf(table, row).toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => label.includes(word));
}

/**
 * Rows that are not of a path which was measured here are in every selection.
 * @param {Metric} metric @param {Choice} choice @param {string} baseline a path, or NO_BASELINE
 * @returns {Line[]}
 */
export function linesOf(metric, choice, baseline) {
  const { table, place } = metric;
  const rows = table.rows.filter((row) => isChosen(row, choice) && isNamed(table, row, choice));
  return rows.map((row) => ({
    row,
    label: labelOf(table, row),
    figure: row.cells[place] ?? ABSENT,
    ratio: ratioOf(metric, row, baseline),
  }));
}

/** @param {Row} row @param {Choice} choice */
const isChosen = (row, choice) =>
  row.variant === null ||
  ((choice.paths?.includes(row.variant) ?? true) && (choice.classes?.includes(classOf(row)) ?? true));

/**
 * Paths that a metric's values can be divided by, with their titles.
 * @param {Suite} suite @param {Metric} metric
 * @returns {Map<string, string>}
 */
export function baselinesOf(suite, metric) {
  const titles = new Map(suite.variants.map(({ name, title }) => [name, title]));
  const known = metric.table.rows.filter((row) => isOwnFigure(row, metric.place));
  return new Map(
    known.map(({ path, variant }) => {
      const [name, ...levels] = path.split(",");
      return [path, [titles.get(variant ?? "") ?? name, ...levels].join(", ")];
    }),
  );
}

/**
 * The chosen one, else that of the suite.
 * @param {Suite} suite @param {Metric} metric @param {Choice} choice
 */
export function baselineOf(suite, metric, choice) {
  const known = baselinesOf(suite, metric);
  if (choice.baseline === NO_BASELINE || known.has(choice.baseline)) return choice.baseline;
  const usual = metric.table.rows.find((row) => row.variant === suite.baseline && known.has(row.path));
  return usual?.path ?? NO_BASELINE;
}

/**
 * Value ÷ that of the baseline's row of the same host and names. A bound is in no ratio.
 * @param {Metric} metric @param {Row} row @param {string} baseline
 */
export function ratioOf({ table, place }, row, baseline) {
  const base = table.rows.find((other) => other.path === baseline && isComparable(table, row, other));
  if (!base || row.variant === null || row.mark || base.mark) return ABSENT;
  if (row === base) return "1";
  const ratio = quotient(row.cells[place], base.cells[place], table.resolution);
  return ratio !== ABSENT && isWeaker(row, base) ? `${ratio}; guarantees less` : ratio;
}

/** @param {Row} row @param {Row} other */
const isWeaker = (row, other) => other.durability !== "" && row.durability > other.durability;

/** @param {Table} table @param {Row} row @param {Row} other */
function isComparable(table, row, other) {
  const names = table.columns.slice(0, table.names);
  return (
    row.host === other.host &&
    names.every((column, at) => column.path || shown(row.cells[at] ?? "") === shown(other.cells[at] ?? ""))
  );
}

/** @param {string | Figure | undefined} one @param {string | Figure | undefined} other @param {number | null} resolution */
function quotient(one, other, resolution) {
  if (typeof one !== "object" || typeof other !== "object") return ABSENT;
  const both = [one, other];
  if (both.some(({ bound }) => bound)) return NOT_RESOLVED;
  if (one.value === null || !other.value || other.value < 0) return ABSENT;
  const ratio = RATIO.format(one.value / other.value);
  return both.some(({ interval }) => interval) ? ofIntervals(one, other, ratio, resolution) : ratio;
}

/**
 * With the lowest and the highest quotient of their ends, where these are far enough from 1.
 * @param {Figure} one @param {Figure} other @param {string} ratio @param {number | null} resolution
 */
function ofIntervals(one, other, ratio, resolution) {
  if (resolution === null) return NOT_RESOLVED;
  const low = (one.low ?? 0) / (other.high ?? Infinity);
  const high = (one.high ?? Infinity) / (other.low ?? 0);
  const apart = 1 + resolution;
  return low > apart || high * apart < 1 ? `~${ratio} (${RATIO.format(low)}–${RATIO.format(high)})` : NOT_RESOLVED;
}
