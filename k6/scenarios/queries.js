// Searches: a keyword's first page at each scheduled send time (open model), or one after the other (closed model).

import { readSearchConfig } from "../lib/config.js";
import { scenarioOf } from "../lib/model.js";
import { searcher } from "../lib/searches.js";
import { COUNTED, countsOf } from "../lib/summary.js";

const config = readSearchConfig(__ENV);
const { ledger, search } = searcher(config);

/** @type {import("k6/options").Options} */
export const options = { scenarios: { searches: scenarioOf(config) }, ...COUNTED };

export default search;

export function setup() {
  ledger.meet(config.processes);
}

/** @param {any} data */
export function handleSummary(data) {
  ledger.close(); // as in ramp.js
  return { [config.summaryFile]: JSON.stringify(countsOf(data, ledger.begun())) };
}
