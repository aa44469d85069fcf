// Reads: a path at each scheduled send time (open model), or one after the other (closed model).

import { readConfig } from "../lib/config.js";
import { paced, scenarioOf } from "../lib/model.js";
import { reader } from "../lib/reads.js";
import { COUNTED, countsOf } from "../lib/summary.js";

const config = readConfig(__ENV);
const { ledger, read } = reader(config);

/** @type {import("k6/options").Options} */
export const options = { scenarios: { reads: scenarioOf(config) }, ...COUNTED };

export default paced(config, read);

export function setup() {
  ledger.meet(config.processes);
}

/** @param {any} data */
export function handleSummary(data) {
  ledger.close(); // as in ramp.js
  return { [config.summaryFile]: JSON.stringify(countsOf(data, ledger.begun())) };
}
