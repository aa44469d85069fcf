// Writes, the same for every variant: a POST at each scheduled send time (open model), or one after the other (closed).

import { readConfig } from "../lib/config.js";
import { paced, scenarioOf } from "../lib/model.js";
import { writer } from "../lib/posts.js";
import { COUNTED, countsOf } from "../lib/summary.js";

const config = readConfig(__ENV);
const { ledger, write } = writer(config);

/** @type {import("k6/options").Options} */
export const options = { scenarios: { writes: scenarioOf(config) }, ...COUNTED };

export default paced(config, write);

export function setup() {
  ledger.meet(config.processes);
}

/** @param {any} data */
export function handleSummary(data) {
  ledger.close(); // the last records; where that fails there are no counts either, and the load is not complete
  return { [config.summaryFile]: JSON.stringify(countsOf(data, ledger.begun())) };
}
