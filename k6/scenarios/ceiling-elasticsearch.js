// The maximum rate of Elasticsearch itself: each connection sends its next request as soon as the last one is answered.

import { SharedArray } from "k6/data";
import exec from "k6/execution";
import http from "k6/http";
import { Counter, Trend } from "k6/metrics";

import { readStoreLoad } from "../lib/config.js";
import { encodeId } from "../lib/ids.js";

const config = readStoreLoad(__ENV);
const contents = new SharedArray("contents", () => JSON.parse(open(config.contentFile)));
const documents = new Counter("bench_documents");
const refused = new Counter("bench_refused");
const latency = new Trend("bench_latency_ms");
const WARM_UP = "warm_up";
const request = { headers: { "Content-Type": "application/json" }, timeout: "15s", redirects: 0 };
const bulkRequest = { ...request, headers: { "Content-Type": "application/x-ndjson" } };
const CREATED = 201;
const OK = 200;

/** @param {number} startS @param {number} seconds @returns {import("k6/options").Scenario} */
function connections(startS, seconds) {
  const length = { startTime: `${startS}s`, duration: `${seconds}s`, gracefulStop: "20s" };
  return { executor: "constant-vus", vus: config.virtualUsers, ...length };
}

/** @type {import("k6/options").Options} */
export const options = {
  scenarios: {
    [WARM_UP]: connections(0, config.warmUpSeconds),
    measured: connections(config.warmUpSeconds, config.seconds),
  },
  systemTags: ["status", "error_code"],
};

/** @param {number} sequence */
function post(sequence) {
  const run = exec.scenario.name === WARM_UP ? "0".repeat(15) : "1".repeat(15);
  const body = JSON.stringify({ content: contents[sequence % contents.length], createdAt: Date.now() });
  return { id: encodeId(run, sequence), body };
}

function sendOne() {
  const { id, body } = post(exec.scenario.iterationInTest);
  const answer = http.put(`${config.target}/ceiling/_create/${id}`, body, request);
  return { answer, stored: answer.status === CREATED };
}

function sendBulk() {
  const first = exec.scenario.iterationInTest * config.documents;
  const lines = Array.from({ length: config.documents }, (_, place) => {
    const { id, body } = post(first + place);
    return `{"create":{"_id":"${id}"}}\n${body}\n`;
  });
  const answer = http.post(`${config.target}/ceiling/_bulk?filter_path=errors`, lines.join(""), bulkRequest);
  return { answer, stored: answer.status === OK && answer.body === '{"errors":false}' };
}

export default function write() {
  const { answer, stored } = config.documents === 1 ? sendOne() : sendBulk();
  const elapsedMs = Date.now() - exec.scenario.startTime;
  if (!stored) {
    refused.add(1);
  } else if (exec.scenario.name !== WARM_UP && elapsedMs <= config.seconds * 1000) {
    // Answers after the measured time, while k6 ends, are not counted.
    documents.add(config.documents);
    latency.add(answer.timings.duration);
  }
}

/** @param {any} data */
export function handleSummary({ metrics }) {
  return {
    [config.summaryFile]: JSON.stringify({
      documents: metrics.bench_documents?.values.count ?? 0,
      refused: metrics.bench_refused?.values.count ?? 0,
      latency_ms_mean: metrics.bench_latency_ms?.values.avg ?? null,
    }),
  };
}
