// What the runner tells the script. Variables start with BENCH_, because k6 lets its own (K6_VUS, ...) replace scenarios.

/**
 * A straight line of the arrival rate.
 * @typedef {object} Phase
 * @property {string} name
 * @property {number} seconds
 * @property {number} from_per_s
 * @property {number} to_per_s
 */

/**
 * @typedef {object} Config
 * @property {string} target base URL of the proxy, without a slash at its end
 * @property {string} runId 15 hex digits, in the id of every post
 * @property {Phase[]} phases
 * @property {number} virtualUsers most requests in flight; what is due beyond that is dropped, and counted
 * @property {string} contentFile JSON array of strings
 * @property {string} summaryFile where k6's own counts go
 */

/**
 * Reads the environment, or stops k6 before the load with a sentence that says what to set.
 * @param {Record<string, string | undefined>} env
 * @returns {Config}
 */
export function readConfig(env) {
  return {
    target: matching(env, "BENCH_TARGET", /^https?:\/\/[^/]+$/, "a base URL such as http://127.0.0.1:8080"),
    runId: matching(env, "BENCH_RUN", /^[0-9a-f]{15}$/, "15 lower-case hex digits"),
    phases: phasesOf(env),
    virtualUsers: Number(matching(env, "BENCH_VUS", /^[1-9][0-9]*$/, "a whole number of virtual users from 1")),
    contentFile: matching(env, "BENCH_CONTENT", /./, "the path of a JSON array of strings"),
    summaryFile: matching(env, "BENCH_SUMMARY", /./, "the path that k6's counts are written to"),
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
 * @returns {Phase[]}
 */
function phasesOf(env) {
  const text = matching(env, "BENCH_PHASES", /^\[.*\]$/, "a JSON array of phases");
  /** @type {Phase[]} */
  const phases = JSON.parse(text);
  if (phases.length === 0) {
    throw new Error("BENCH_PHASES=[]: must have at least one phase");
  }
  for (const phase of phases) {
    const numbers = [phase.seconds, phase.from_per_s, phase.to_per_s];
    if (!numbers.every((number) => Number.isFinite(number) && number > 0)) {
      throw new Error(`BENCH_PHASES: ${JSON.stringify(phase)} needs seconds, from_per_s and to_per_s, each above 0`);
    }
  }
  return phases;
}
