// What the reader has chosen, as the address has it after its #.

/**
 * An empty text or null is the usual choice.
 * @typedef {object} Choice
 * @property {string} suite its name
 * @property {string} metric key of a table, a dot, key of its column
 * @property {string} baseline path whose values are 1; "none": no ratio
 * @property {string[] | null} paths names of variants; null: all
 * @property {string[] | null} classes durability classes; null: all
 * @property {string} words which a row has in what names it
 * @property {string} value label of the row whose evidence is open
 */

/**
 * @param {string} hash of the address, with or without #
 * @returns {Choice}
 */
export function choiceOf(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const text = (/** @type {string} */ name) => given.get(name) ?? "";
  const list = (/** @type {string} */ name) => (given.has(name) ? text(name).split(",").filter(Boolean) : null);
  return {
    suite: text("suite"),
    metric: text("metric"),
    baseline: text("baseline"),
    paths: list("paths"),
    classes: list("classes"),
    words: text("words"),
    value: text("value"),
  };
}

/**
 * @param {Choice} choice
 * @returns {string} with #
 */
export function hashOf(choice) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(choice)) {
    if (Array.isArray(value)) given.set(name, value.join(","));
    else if (value) given.set(name, value);
  }
  return `#${given}`;
}
