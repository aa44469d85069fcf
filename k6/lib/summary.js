// Counts that only k6 knows: what it drops or interrupts leaves no record in the ledger.

const BY_SCENARIO = ["iterations", "dropped_iterations", "http_reqs"];

/**
 * @param {{metrics: {[name: string]: {values: {[stat: string]: number}}}}} data of handleSummary
 * @param {number} started iterations, finished or not; k6 itself counts those that it let finish
 * @param {string} [scenario] one of several, which `countedByScenario` names
 * @returns {{[count: string]: number}} by name
 */
export function countsOf({ metrics }, started, scenario) {
  /** @param {string} metric @param {string} stat */
  const read = (metric, stat) => metrics[metric]?.values[stat] ?? 0; // what never happened is absent
  /** @param {string} metric */
  const count = (metric) => read(scenario === undefined ? metric : ofScenario(metric, scenario), "count");
  const p99 = metrics["http_req_duration"]?.values["p(99)"]; // in a trend only where k6 was asked for it
  return {
    started,
    finished: count("iterations"),
    dropped: count("dropped_iterations"),
    requests: count("http_reqs"),
    virtual_users_max: read("vus_max", "value"),
    ...(p99 === undefined ? {} : { duration_ms_p99: p99 }),
  };
}

/**
 * Options that have k6 count for each of several scenarios: it does so only where a threshold asks, and these always hold.
 * @param {string[]} scenarios
 * @returns {import("k6/options").Options}
 */
export function countedByScenario(scenarios) {
  const names = scenarios.flatMap((scenario) => BY_SCENARIO.map((metric) => ofScenario(metric, scenario)));
  return {
    thresholds: Object.fromEntries(names.map((name) => [name, ["count>=0"]])),
    systemTags: ["status", "error_code", "scenario"],
  };
}

/** @param {string} metric @param {string} scenario */
function ofScenario(metric, scenario) {
  return `${metric}{scenario:${scenario}}`;
}
