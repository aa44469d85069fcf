// Counts that only k6 knows: what it drops or interrupts leaves no record in the ledger.

const DROPPED = "dropped_iterations";

/**
 * Options of a load: k6 labels nothing and measures nothing, because the ledger has it.
 * @type {import("k6/options").Options}
 */
export const COUNTED = { systemTags: [], noCookiesReset: true };

/**
 * @param {{metrics: {[name: string]: {values: {[stat: string]: number}}}}} data of handleSummary
 * @param {number} started iterations, finished or not; k6 itself counts those that it let finish
 * @param {string} [scenario] one of several, which `countedByScenario` names
 * @returns {{[count: string]: number}} by name
 */
export function countsOf({ metrics }, started, scenario) {
  const counted = metrics[scenario === undefined ? DROPPED : ofScenario(scenario)];
  return { started, dropped: counted?.values["count"] ?? 0 }; // what never happened is absent
}

/**
 * Options that have k6 count for each of several scenarios: it does so only where a threshold asks, and these always hold.
 * @param {string[]} scenarios
 * @returns {import("k6/options").Options}
 */
export function countedByScenario(scenarios) {
  const thresholds = Object.fromEntries(scenarios.map((scenario) => [ofScenario(scenario), ["count>=0"]]));
  return { ...COUNTED, thresholds, systemTags: ["scenario"] };
}

/** @param {string} scenario */
function ofScenario(scenario) {
  return `${DROPPED}{scenario:${scenario}}`;
}
