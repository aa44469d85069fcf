// The load model as k6's executor: open, with a schedule, or closed, in which each virtual user waits for its answer.

import { GRACEFUL_STOP, arrivals } from "./arrivals.js";

/**
 * @param {import("./config.js").Load} load
 * @returns {import("k6/options").Scenario}
 */
export function scenarioOf(load) {
  if (load.model === "open") return arrivals(load);
  return {
    executor: "constant-vus",
    vus: load.virtualUsers,
    duration: `${Math.round(load.seconds * 1000)}ms`,
    gracefulStop: GRACEFUL_STOP,
  };
}
