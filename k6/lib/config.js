// What the runner tells the script. Variables start with BENCH_, because k6 lets its own (K6_VUS, ...) replace scenarios.

const WHOLE = /^[1-9][0-9]*$/;
const SECONDS = /^[0-9]+(\.[0-9]+)?$/;
const TIMEOUT_SECONDS = "15"; // the outermost: pool, confirm, bulk 2 s < application 5 s < proxy 10 s

/**
 * A straight line of the arrival rate.
 * @typedef {object} Phase
 * @property {string} name
 * @property {number} seconds
 * @property {number} from_per_s
 * @property {number} to_per_s
 */

/**
 * The open model has phases, the closed one a length; virtualUsers: most requests in flight. What is due beyond that in
 * an open load is dropped, and counted.
 * @typedef {{model: "open", phases: Phase[], virtualUsers: number}
 *   | {model: "closed", seconds: number, virtualUsers: number}} Load
 */

/**
 * @typedef {object} Place
 * @property {string} target base URL of the proxy, without a slash at its end
 * @property {string} runId 15 hex digits, in the id of every post
 * @property {string} contentFile JSON array of strings, searches, paths or sessions
 * @property {string} ledgerFile that each finished request is recorded in
 * @property {string} summaryFile where k6's own counts go
 */

/**
 * processes: of k6, which share the load. timeoutSeconds: of a request, from waiting for a connection to its whole answer.
 * pauseAfterErrorSeconds: how long a virtual user waits after a request that was not served.
 * @typedef {Load & Place & {processes: number, timeoutSeconds: number, pauseAfterErrorSeconds: number}} Config
 */

/**
 * Reads the environment, or stops k6 before the load with a sentence that says what to set.
 * @param {Record<string, string | undefined>} env
 * @param {string} prefix BENCH_WRITES_: of writes during another load
 * @returns {Config}
 */
export function readConfig(env, prefix = "BENCH_") {
  /** @param {string} name @param {RegExp} pattern @param {string} meaning */
  const read = (name, pattern, meaning) => matching(env, `${prefix}${name}`, pattern, meaning);
  /** @param {string} name @param {string} usual */
  const seconds = (name, usual) =>
    Number(matching({ [prefix + name]: usual, ...env }, prefix + name, SECONDS, "a number of seconds"));
  return {
    target: read("TARGET", /^http:\/\/[^/]+$/, "a base URL such as http://127.0.0.1:8080"),
    runId: read("RUN", /^[0-9a-f]{15}$/, "15 lower-case hex digits"),
    ...loadOf(env, prefix),
    processes: Number(read("PROCESSES", WHOLE, "a whole number of k6 processes from 1")),
    timeoutSeconds: seconds("TIMEOUT_SECONDS", TIMEOUT_SECONDS),
    pauseAfterErrorSeconds: seconds("PAUSE_AFTER_ERROR_SECONDS", "0"),
    contentFile: read("CONTENT", /./, "the path of a JSON array of what is sent"),
    ledgerFile: read("LEDGER", /./, "the path that finished requests are recorded in"),
    summaryFile: read("SUMMARY", /./, "the path that k6's counts are written to"),
  };
}

/**
 * @param {Record<string, string | undefined>} env
 * @param {string} prefix
 * @returns {Load}
 */
function loadOf(env, prefix) {
  const model = matching(env, `${prefix}MODEL`, /^(open|closed)$/, "open or closed: the load model");
  const virtualUsers = Number(matching(env, `${prefix}VUS`, WHOLE, "a whole number of virtual users from 1"));
  if (model === "open") return { model, phases: phasesOf(env, `${prefix}PHASES`), virtualUsers };
  const seconds = Number(matching(env, `${prefix}SECONDS`, SECONDS, "a number of seconds"));
  return { model: "closed", seconds, virtualUsers };
}

/**
 * As readConfig, for a load of searches: whether posts are added during it, so that a total may be higher than expected.
 * @param {Record<string, string | undefined>} env
 * @returns {Config & {growing: boolean}}
 */
export function readSearchConfig(env) {
  const total = matching(env, "BENCH_TOTAL", /^(exactly|at-least)$/, "exactly or at-least: how totals are compared");
  return { ...readConfig(env), growing: total === "at-least" };
}

/**
 * As readConfig, for a load of sessions: with the file that their requests are recorded in.
 * @param {Record<string, string | undefined>} env
 * @returns {Config & {requestsFile: string}}
 */
export function readSessionConfig(env) {
  const meaning = "the path that the requests of sessions are recorded in";
  return { ...readConfig(env), requestsFile: matching(env, "BENCH_REQUESTS_LEDGER", /./, meaning) };
}

/**
 * @typedef {object} StoreLoad
 * @property {string} target base URL of a store's node
 * @property {number} virtualUsers each sends its next request when the last one is answered
 * @property {number} documents in a request; 1: not in a bulk
 * @property {number} warmUpSeconds before it counts
 * @property {number} seconds that count
 * @property {string} contentFile
 * @property {string} summaryFile
 */

/**
 * As readConfig, for a load that goes straight to a store.
 * @param {Record<string, string | undefined>} env
 * @returns {StoreLoad}
 */
export function readStoreLoad(env) {
  return {
    target: matching(env, "BENCH_TARGET", /^https?:\/\/[^/]+$/, "a base URL such as http://127.0.0.1:9200"),
    virtualUsers: Number(matching(env, "BENCH_VUS", WHOLE, "a whole number of virtual users from 1")),
    documents: Number(matching(env, "BENCH_DOCUMENTS", WHOLE, "a whole number of documents from 1")),
    warmUpSeconds: Number(matching(env, "BENCH_WARM_UP_SECONDS", SECONDS, "a number of seconds")),
    seconds: Number(matching(env, "BENCH_SECONDS", SECONDS, "a number of seconds")),
    contentFile: matching(env, "BENCH_CONTENT", /./, "the path of a JSON array of strings"),
    summaryFile: matching(env, "BENCH_SUMMARY", /./, "the path that the counts are written to"),
  };
}

/**
 * @param {Record<string, string | undefined>} env
 * @param {string} name
 * @param {RegExp} pattern
 * @param {string} meaning
 * @returns {string}
 */
function matching(env, name, pattern, meaning) {
  const value = env[name];
  if (value === undefined || !pattern.test(value)) {
    throw new Error(`${name}=${value ?? ""}: must be ${meaning}; set it with k6 run -e ${name}=...`);
  }
  return value;
}

/**
 * @param {Record<string, string | undefined>} env
 * @param {string} name
 * @returns {Phase[]}
 */
function phasesOf(env, name) {
  const text = matching(env, name, /^\[.*\]$/, "a JSON array of phases");
  /** @type {Phase[]} */
  const phases = JSON.parse(text);
  if (phases.length === 0) {
    throw new Error(`${name}=[]: must have at least one phase`);
  }
  for (const phase of phases) {
    const numbers = [phase.seconds, phase.from_per_s, phase.to_per_s];
    if (!numbers.every((number) => Number.isFinite(number) && number > 0)) {
      throw new Error(`${name}: ${JSON.stringify(phase)} needs seconds, from_per_s and to_per_s, each above 0`);
    }
  }
  return phases;
}
