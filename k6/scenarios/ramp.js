// Writes, the same for every variant: a POST at each scheduled send time (open model), or one after the other (closed).

import exec from "k6/execution";
import { openLedger } from "k6/x/ledger";

import { readConfig } from "../lib/config.js";
import { encodeId } from "../lib/ids.js";
import { WRITE, acknowledging, recorded } from "../lib/ledger.js";
import { scenarioOf } from "../lib/model.js";
import { OPTIONS, poster } from "../lib/posts.js";
import { countsOf } from "../lib/summary.js";

const config = readConfig(__ENV);
const ledger = openLedger(config.ledgerFile);
const post = poster(config);

/** @type {import("k6/options").Options} */
export const options = { scenarios: { writes: scenarioOf(config) }, ...OPTIONS };

export default function writePost() {
  const sequence = exec.scenario.iterationInTest;
  const id = encodeId(config.runId, sequence);
  recorded(ledger, WRITE, sequence, () => post(sequence, id), acknowledging(id));
}

/** @param {any} data */
export function handleSummary(data) {
  ledger.close(); // the last records; where that fails there are no counts either, and the load is not complete
  return { [config.summaryFile]: JSON.stringify(countsOf(data, ledger.begun())) };
}
