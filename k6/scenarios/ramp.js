// One load shape for every variant: a POST at each planned moment, however slow the answers are (open model).

import { SharedArray } from "k6/data";
import exec from "k6/execution";
import http from "k6/http";

import { arrivals } from "../lib/arrivals.js";
import { readConfig } from "../lib/config.js";
import { encodeId } from "../lib/ids.js";
import { ledgerLine } from "../lib/ledger.js";
import { countsOf, countStart } from "../lib/summary.js";

const config = readConfig(__ENV);
const contents = new SharedArray("contents", () => JSON.parse(open(config.contentFile)));
const url = `${config.target}/api/posts`;
const request = {
  // No Idempotency-Key header: Go's transport silently sends such a POST again when a connection breaks.
  headers: { "Content-Type": "application/json" },
  timeout: "15s", // the outermost: pool, confirm, bulk 2 s < application 5 s < proxy 10 s
  redirects: 0,
};

/** @type {import("k6/options").Options} */
export const options = {
  scenarios: { writes: arrivals(config) },
  discardResponseBodies: true, // Location names the id, too
  systemTags: ["status", "error_code"],
};

export default function writePost() {
  countStart();
  const sequence = exec.scenario.iterationInTest;
  const id = encodeId(config.runId, sequence);
  const body = JSON.stringify({ id, content: contents[sequence % contents.length] });
  const startedMs = Date.now();
  const answer = http.post(url, body, request);
  console.log(ledgerLine(sequence, id, startedMs, Date.now() - startedMs, answer)); // into the ledger's file
}

/** @param {any} data */
export function handleSummary(data) {
  return { [config.summaryFile]: JSON.stringify(countsOf(data)) };
}
