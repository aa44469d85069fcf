// The load model as k6's executor: open, with a schedule, or closed, in which each virtual user waits for its answer.

import { sleep } from "k6";

import { arrivals } from "./arrivals.js";

const SPARE_SECONDS = 5;

/**
 * @param {import("./config.js").Config} config
 * @param {number} requests of an iteration, one after the other
 * @returns {import("k6/options").Scenario}
 */
export function scenarioOf(config, requests = 1) {
  // Longer than an iteration may take: what is cut off leaves no line in the ledger.
  const gracefulStop = `${Math.ceil(config.timeoutSeconds * requests) + SPARE_SECONDS}s`;
  if (config.model === "open") return { ...arrivals(config), gracefulStop };
  return {
    executor: "constant-vus",
    vus: config.virtualUsers,
    duration: `${Math.round(config.seconds * 1000)}ms`,
    gracefulStop,
  };
}

/**
 * The iteration, after which a virtual user waits where its request was not served: a refused connection takes no time.
 * @param {import("./config.js").Config} config
 * @param {() => boolean} send
 */
export function paced({ pauseAfterErrorSeconds }, send) {
  if (pauseAfterErrorSeconds === 0) return send;
  return () => {
    if (!send()) sleep(pauseAfterErrorSeconds);
  };
}
