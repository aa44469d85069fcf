// Searches as in queries.js and writes as in ramp.js at the same time, each load with its model and ledger.

import exec from "k6/execution";
import { openLedger } from "k6/x/ledger";

import { readConfig, readSearchConfig } from "../lib/config.js";
import { encodeId } from "../lib/ids.js";
import { SEARCH, WRITE, acknowledging, recorded, totalling } from "../lib/ledger.js";
import { scenarioOf } from "../lib/model.js";
import { poster } from "../lib/posts.js";
import { searcher } from "../lib/searches.js";
import { countedByScenario, countsOf } from "../lib/summary.js";

const searches = readSearchConfig(__ENV);
const writes = readConfig(__ENV, "BENCH_WRITES_");
const searchLedger = openLedger(searches.ledgerFile);
const writeLedger = openLedger(writes.ledgerFile);
const { questionOf, ask } = searcher(searches);
const post = poster(writes);

/** @type {import("k6/options").Options} */
export const options = {
  scenarios: {
    searches: { ...scenarioOf(searches), exec: "search" },
    writes: { ...scenarioOf(writes), exec: "write" },
  },
  ...countedByScenario(["searches", "writes"]),
};

export function search() {
  const sequence = exec.scenario.iterationInTest;
  const question = questionOf(sequence);
  recorded(searchLedger, SEARCH, sequence, () => ask(question), totalling(question.total, searches.growing));
}

export function write() {
  const sequence = exec.scenario.iterationInTest;
  const id = encodeId(writes.runId, sequence);
  recorded(writeLedger, WRITE, sequence, () => post(sequence, id), acknowledging(id));
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
