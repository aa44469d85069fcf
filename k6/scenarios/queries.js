// Searches: a keyword's first page at each scheduled send time (open model), or one after the other (closed model).

import exec from "k6/execution";
import { openLedger } from "k6/x/ledger";

import { readSearchConfig } from "../lib/config.js";
import { SEARCH, recorded, totalling } from "../lib/ledger.js";
import { scenarioOf } from "../lib/model.js";
import { searcher } from "../lib/searches.js";
import { countsOf } from "../lib/summary.js";

const config = readSearchConfig(__ENV);
const ledger = openLedger(config.ledgerFile);
const { questionOf, ask } = searcher(config);

/** @type {import("k6/options").Options} */
export const options = { scenarios: { searches: scenarioOf(config) }, systemTags: ["status", "error_code"] };

export default function search() {
  const sequence = exec.scenario.iterationInTest;
  const question = questionOf(sequence);
  recorded(ledger, SEARCH, sequence, () => ask(question), totalling(question.total, config.growing));
}

/** @param {any} data */
export function handleSummary(data) {
  ledger.close(); // as in ramp.js
  return { [config.summaryFile]: JSON.stringify(countsOf(data, ledger.begun())) };
}
