// Run by k6 itself, because that is where the modules run: k6 run k6/tests/lib.js. Exit code 99: a check failed.

import { check } from "k6";

import { stagesOf } from "../lib/arrivals.js";
import { readConfig, readSearchConfig } from "../lib/config.js";
import { encodeId } from "../lib/ids.js";
import {
  END_OF_FILE,
  INTERRUPTED,
  REFUSED_BY_APPLICATION,
  REFUSED_BY_STORE,
  SEARCH,
  WRONG_ACK,
  WRONG_TOTAL,
  acknowledging,
  recorded,
  totalling,
} from "../lib/ledger.js";
import { scenarioOf } from "../lib/model.js";
import { countedByScenario, countsOf } from "../lib/summary.js";

/** @type {import("k6/options").Options} */
export const options = { thresholds: { checks: ["rate==1"] } };

const RUN = "0123456789abcde";
const ENVIRONMENT = {
  BENCH_TARGET: "http://127.0.0.1:8080",
  BENCH_RUN: RUN,
  BENCH_MODEL: "open",
  BENCH_PHASES: '[{"name":"flat","seconds":2,"from_per_s":5,"to_per_s":5}]',
  BENCH_VUS: "7",
  BENCH_CONTENT: "/tmp/content.json",
  BENCH_LEDGER: "/tmp/ledger.rec",
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
  "a closed load has a length and no phases": () =>
    same(
      scenarioOf(readConfig({ ...ENVIRONMENT, BENCH_MODEL: "closed", BENCH_PHASES: undefined, BENCH_SECONDS: "1.5" })),
      {
        executor: "constant-vus",
        vus: 7,
        duration: "1500ms",
        gracefulStop: "20s",
      },
    ),
  "an open load has arrivals": () => scenarioOf(readConfig(ENVIRONMENT)).executor === "ramping-arrival-rate",
  "a closed load without a length is refused": () =>
    refusal({ BENCH_MODEL: "closed", BENCH_SECONDS: undefined }).startsWith("BENCH_SECONDS="),
  "another model is refused": () => refusal({ BENCH_MODEL: "mixed" }).startsWith("BENCH_MODEL=mixed"),
  "no phase is too few": () => refusal({ BENCH_PHASES: "[]" }).startsWith("BENCH_PHASES=[]"),
  "a phase without a rate is refused": () =>
    refusal({ BENCH_PHASES: '[{"name":"a","seconds":1,"from_per_s":1}]' }).startsWith("BENCH_PHASES"),
  "writes during another load have separate variables": () => {
    const writes = Object.entries(ENVIRONMENT).map(([name, value]) => [name.replace("BENCH_", "BENCH_WRITES_"), value]);
    return readConfig(Object.fromEntries(writes), "BENCH_WRITES_").virtualUsers === 7;
  },
  "searches know whether posts are added meanwhile": () =>
    readSearchConfig({ ...ENVIRONMENT, BENCH_TOTAL: "at-least" }).growing &&
    !readSearchConfig({ ...ENVIRONMENT, BENCH_TOTAL: "exactly" }).growing,
  "another comparison of totals is refused": () =>
    refusal({ BENCH_TOTAL: "about" }, readSearchConfig).startsWith("BENCH_TOTAL=about"),
};

const ledger = {
  "an acknowledged write": () =>
    same(record({ status: 201, headers: { Location: "/api/posts/x-1" } }), [1, 5, 1000, 0.25, 12.3456, 201, 0]),
  "a 201 for another id is a wrong ack": () =>
    code({ status: 201, headers: { Location: "/api/posts/y-1" } }) === WRONG_ACK,
  "a 201 without a Location is a wrong ack": () => code({ status: 201 }) === WRONG_ACK,
  "a refusal keeps k6's code": () => same(record({ status: 503, error_code: 1503 }).slice(5), [503, 1503]),
  "a refusal says whose it is, where the answer does": () =>
    refusedBy("application") === REFUSED_BY_APPLICATION &&
    refusedBy("store") === REFUSED_BY_STORE &&
    refusedBy("nobody") === 1503,
  "without an answer the wait counts": () =>
    same(record({ error_code: 1050, error: "request timeout" }), [1, 5, 1000, 0, 15001, 0, 1050]),
  "a closed connection has its own code": () =>
    code({ error_code: 1000, error: 'Post "http://x": EOF' }) === END_OF_FILE,
  "an interrupted request has its own code": () =>
    code({ error_code: 1000, error: "context canceled" }) === INTERRUPTED,
  "a search is right with the total that is expected": () => found('{"total":7,"posts":[]}') === 0,
  "another total is a wrong one, and so is none": () =>
    ['{"total":6,"posts":[]}', '{"total":8,"posts":[]}', '{"posts":[]}', ""].every(
      (body) => found(body) === WRONG_TOTAL,
    ),
  "where posts are added, a total may be above": () =>
    found('{"total":8}', true) === 0 && found('{"total":7}', true) === 0 && found('{"total":6}', true) === WRONG_TOTAL,
  "a total within a post's text is none": () => {
    const posts = JSON.stringify([{ content: '"total":7' }]);
    return found(`{"posts":${posts},"total":9}`) === WRONG_TOTAL;
  },
  "a search that is refused has no total": () =>
    code({ status: 503, error_code: 1503, body: "" }, totalling(7, false)) === 1503,
};

const summary = {
  "metrics that never happened count 0": () => countsOf({ metrics: {} }, 0).dropped === 0,
  "counts are k6's own": () => countsOf({ metrics: { iterations: { values: { count: 12 } } } }, 13).finished === 12,
  "each of several scenarios has its own counts, of what k6 was asked to count": () => {
    const asked = Object.keys(countedByScenario(["searches", "writes"]).thresholds ?? {});
    const metrics = Object.fromEntries(asked.map((name, place) => [name, { values: { count: place } }]));
    const { finished, dropped, requests } = countsOf({ metrics }, 13, "writes");
    return asked.length === 6 && same([finished, dropped, requests], [3, 4, 5]);
  },
  "a percentile is there only where k6 has it": () =>
    !("duration_ms_p99" in countsOf({ metrics: {} }, 0)) &&
    countsOf({ metrics: { http_req_duration: { values: { "p(99)": 3.5 } } } }, 0).duration_ms_p99 === 3.5,
};

/**
 * What the ledger contains for an answer that came 15,001 ms after the request.
 * @param {Partial<import("../lib/ledger.js").Answer>} answer
 * @param {import("../lib/ledger.js").Objection} objection
 */
function record(answer, objection = acknowledging("x-1")) {
  const timings = { blocked: 0.25, duration: 12.3456 };
  const whole = { status: 0, error: "", error_code: 0, timings, headers: {}, body: null };
  /** @type {number[]} */
  const taken = [];
  let nowMs = 1000;
  /** @type {import("k6/x/ledger").Ledger} */
  const fake = {
    begin: () => nowMs,
    begun: () => 1,
    now: () => nowMs,
    record: (...fields) => void taken.push(...fields),
    close: () => {},
  };
  const send = () => {
    nowMs += 15001;
    return { ...whole, ...answer };
  };
  recorded(fake, SEARCH, 5, send, objection);
  return taken;
}

/**
 * @param {Partial<import("../lib/ledger.js").Answer>} answer
 * @param {import("../lib/ledger.js").Objection} [objection]
 */
function code(answer, objection) {
  return record(answer, objection)[6];
}

/** The code of a search that should find 7. @param {string} body @param {boolean} growing */
function found(body, growing = false) {
  return code({ status: 200, body }, totalling(7, growing));
}

/** @param {string} hop */
function refusedBy(hop) {
  return code({ status: 503, error_code: 1503, headers: { "X-Refused-By": hop } });
}

/** @param {Record<string, string | undefined>} change */
function refusal(change, read = readConfig) {
  try {
    read({ ...ENVIRONMENT, ...change });
  } catch (error) {
    return /** @type {Error} */ (error).message;
  }
  return "";
}

/** @param {unknown} left @param {unknown} right */
function same(left, right) {
  return JSON.stringify(left) === JSON.stringify(right);
}
