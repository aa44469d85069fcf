// Run by k6 itself, because that is where the modules run: k6 run k6/tests/lib.js. Exit code 99: a check failed.

import { check } from "k6";

import { stagesOf } from "../lib/arrivals.js";
import { readConfig, readSearchConfig, readSessionConfig } from "../lib/config.js";
import { encodeId } from "../lib/ids.js";
import { paced, scenarioOf } from "../lib/model.js";
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
  BENCH_PROCESSES: "1",
  BENCH_CONTENT: "/tmp/content.json",
  BENCH_LEDGER: "/tmp/ledger.rec",
  BENCH_SUMMARY: "/tmp/summary.json",
};

export default function checkLibrary() {
  check(null, { ...ids, ...stages, ...configuration, ...summary });
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
  "an iteration may end after the load, however long its requests may take": () =>
    scenarioOf(readConfig({ ...ENVIRONMENT, BENCH_TIMEOUT_SECONDS: "9.5" }), 6).gracefulStop === "62s",
  "a limit that is no number is refused": () =>
    refusal({ BENCH_TIMEOUT_SECONDS: "soon" }).startsWith("BENCH_TIMEOUT_SECONDS=soon"),
  "a virtual user waits only after a request that was not served": () => {
    const config = readConfig({ ...ENVIRONMENT, BENCH_PAUSE_AFTER_ERROR_SECONDS: "0.2" });
    const begun = Date.now();
    paced(config, () => true)();
    const after = Date.now() - begun;
    paced(config, () => false)();
    return after < 200 && Date.now() - begun >= 200;
  },
  "sessions have a second ledger": () =>
    readSessionConfig({ ...ENVIRONMENT, BENCH_REQUESTS_LEDGER: "/tmp/requests.rec" }).requestsFile ===
      "/tmp/requests.rec" && refusal({}, readSessionConfig).startsWith("BENCH_REQUESTS_LEDGER="),
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

const summary = {
  "what never happened counts 0": () => same(countsOf({ metrics: {} }, 7), { started: 7, dropped: 0 }),
  "what is dropped is counted": () => countsOf(counted("dropped_iterations"), 13).dropped === 5,
  "each of several scenarios has its own count, which k6 was asked for": () => {
    const [searches, writes] = Object.keys(countedByScenario(["searches", "writes"]).thresholds ?? {});
    return (
      countsOf(counted(writes), 13, "writes").dropped === 5 && countsOf(counted(searches), 13, "writes").dropped === 0
    );
  },
};

/** @param {string} metric */
function counted(metric) {
  return { metrics: { [metric]: { values: { count: 5 } } } };
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
