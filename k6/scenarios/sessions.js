// Sessions: a log-in and five lists, begun at each scheduled send time (open model), or one after the other (closed model).

import { readSessionConfig } from "../lib/config.js";
import { paced, scenarioOf } from "../lib/model.js";
import { REQUESTS, visitor } from "../lib/sessions.js";
import { COUNTED, countsOf } from "../lib/summary.js";

const config = readSessionConfig(__ENV);
const { ledger, visit } = visitor(config);

/** @type {import("k6/options").Options} */
export const options = { scenarios: { sessions: scenarioOf(config, REQUESTS) }, ...COUNTED };

export default paced(config, visit);

export function setup() {
  ledger.meet(config.processes);
}

/** @param {any} data */
export function handleSummary(data) {
  ledger.close(); // as in ramp.js
  return { [config.summaryFile]: JSON.stringify(countsOf(data, ledger.begun())) };
}
