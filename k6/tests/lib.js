// Run by k6 itself, because that is where the modules run: k6 run k6/tests/lib.js. Exit code 99: a check failed.

import { check } from "k6";

import { stagesOf } from "../lib/arrivals.js";
import { readConfig } from "../lib/config.js";
import { encodeId } from "../lib/ids.js";
import { END_OF_FILE, INTERRUPTED, WRONG_ACK, ledgerLine } from "../lib/ledger.js";
import { countsOf } from "../lib/summary.js";

/** @type {import("k6/options").Options} */
export const options = { thresholds: { checks: ["rate==1"] } };

const RUN = "0123456789abcde";
const ENVIRONMENT = {
  BENCH_TARGET: "http://127.0.0.1:8080",
  BENCH_RUN: RUN,
  BENCH_PHASES: '[{"name":"flat","seconds":2,"from_per_s":5,"to_per_s":5}]',
  BENCH_VUS: "7",
  BENCH_CONTENT: "/tmp/content.json",
  BENCH_SUMMARY: "/tmp/summary.json",
};

export default function checkLibrary() {
  check(null, { ...ids, ...stages, ...configuration, ...ledger, ...summary });
}

const ids = {
  "an id carries run and sequence": () => encodeId(RUN, 0x1234) === "01234567-89ab-8cde-8000-000000001234",
  "the largest sequence that a number holds exactly keeps its digits": () =>
    encodeId(RUN, Number.MAX_SAFE_INTEGER) === "01234567-89ab-8cde-801f-ffffffffffff",
  "ids of neighbours differ": () => encodeId(RUN, 255) !== encodeId(RUN, 256),
};

const stages = {
  "a phase is a stage, and an empty one follows": () =>
    same(stagesOf([{ name: "a", seconds: 1.5, from_per_s: 3, to_per_s: 100 }]), [
      { duration: "1500ms", target: 100000 },
      { duration: "0s", target: 0 },
      { duration: "60s", target: 0 },
    ]),
  "a jump between two phases takes no time": () =>
    same(
      stagesOf([
        { name: "a", seconds: 1, from_per_s: 3, to_per_s: 3 },
        { name: "b", seconds: 1, from_per_s: 0.5, to_per_s: 9 },
      ]).slice(1, 3),
      [
        { duration: "0s", target: 500 },
        { duration: "1000ms", target: 9000 },
      ],
    ),
};

const configuration = {
  "a complete environment is read": () => readConfig(ENVIRONMENT).virtualUsers === 7,
  "what is missing is named": () => refusal({ BENCH_RUN: undefined }).startsWith("BENCH_RUN="),
  "a target with a path is refused": () =>
    refusal({ BENCH_TARGET: "http://127.0.0.1/api" }).startsWith("BENCH_TARGET="),
  "an upper-case run is refused": () => refusal({ BENCH_RUN: "0123456789ABCDE" }).includes("lower-case hex digits"),
  "no virtual user is too few": () => refusal({ BENCH_VUS: "0" }).startsWith("BENCH_VUS=0"),
  "no phase is too few": () => refusal({ BENCH_PHASES: "[]" }).startsWith("BENCH_PHASES=[]"),
  "a phase without a rate is refused": () =>
    refusal({ BENCH_PHASES: '[{"name":"a","seconds":1,"from_per_s":1}]' }).startsWith("BENCH_PHASES"),
};

const ledger = {
  "an acknowledged write": () =>
    line({ status: 201, headers: { Location: "/api/posts/x-1" } }) === "5,1000,0.250,12.346,201,0",
  "a 201 for another id is a wrong ack": () =>
    line({ status: 201, headers: { Location: "/api/posts/y-1" } }).endsWith(`,201,${WRONG_ACK}`),
  "a 201 without a Location is a wrong ack": () => line({ status: 201 }).endsWith(`,201,${WRONG_ACK}`),
  "a refusal keeps k6's code": () => line({ status: 503, error_code: 1503 }).endsWith(",503,1503"),
  "without an answer the wait counts": () =>
    line({ error_code: 1050, error: "request timeout" }) === "5,1000,0.000,15001.000,0,1050",
  "a closed connection has a code of its own": () =>
    line({ error_code: 1000, error: 'Post "http://x": EOF' }).endsWith(`,0,${END_OF_FILE}`),
  "an interrupted request has a code of its own": () =>
    line({ error_code: 1000, error: "context canceled" }).endsWith(`,0,${INTERRUPTED}`),
};

const summary = {
  "metrics that never happened count 0": () => countsOf({ metrics: {} }).dropped === 0,
  "counts are k6's own": () => countsOf({ metrics: { bench_started: { values: { count: 12 } } } }).started === 12,
};

/** @param {Partial<import("../lib/ledger.js").Answer>} answer */
function line(answer) {
  const whole = { status: 0, error: "", error_code: 0, timings: { blocked: 0.25, duration: 12.3456 }, headers: {} };
  return ledgerLine(5, "x-1", 1000, 15001, { ...whole, ...answer });
}

/** @param {Record<string, string | undefined>} change */
function refusal(change) {
  try {
    readConfig({ ...ENVIRONMENT, ...change });
  } catch (error) {
    return /** @type {Error} */ (error).message;
  }
  return "";
}

/** @param {unknown} left @param {unknown} right */
function same(left, right) {
  return JSON.stringify(left) === JSON.stringify(right);
}
