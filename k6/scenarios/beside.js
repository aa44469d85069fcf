// Searches as in queries.js and writes as in ramp.js at the same time, each load with its model and ledger.

import { readConfig, readSearchConfig } from "../lib/config.js";
import { scenarioOf } from "../lib/model.js";
import { writer } from "../lib/posts.js";
import { searcher } from "../lib/searches.js";
import { countedByScenario, countsOf } from "../lib/summary.js";

const searches = readSearchConfig(__ENV);
const writes = readConfig(__ENV, "BENCH_WRITES_");
const { ledger: searchLedger, search } = searcher(searches);
const { ledger: writeLedger, write } = writer(writes);

/** @type {import("k6/options").Options} */
export const options = {
  scenarios: {
    searches: { ...scenarioOf(searches), exec: "search" },
    writes: { ...scenarioOf(writes), exec: "write" },
  },
  ...countedByScenario(["searches", "writes"]),
};

export { search, write };

export function setup() {
  searchLedger.meet(searches.processes);
}

/** @param {any} data */
export function handleSummary(data) {
  searchLedger.close(); // as in ramp.js
  writeLedger.close();
  return {
    [searches.summaryFile]: JSON.stringify(countsOf(data, searchLedger.begun(), "searches")),
    [writes.summaryFile]: JSON.stringify(countsOf(data, writeLedger.begun(), "writes")),
  };
}
