// Counts that only k6 knows: what it drops or interrupts leaves no line in the ledger.

import { Counter } from "k6/metrics";

const started = new Counter("bench_started");

/** Call it first in each iteration; k6 itself counts those that it let finish. */
export function countStart() {
  started.add(1);
}

/**
 * @param {{metrics: {[name: string]: {values: {[stat: string]: number}}}}} data of handleSummary
 * @returns {{started: number, finished: number, dropped: number, requests: number, virtual_users_max: number}}
 */
export function countsOf({ metrics }) {
  /** @param {string} metric @param {string} stat */
  const read = (metric, stat) => metrics[metric]?.values[stat] ?? 0; // what never happened is absent
  return {
    started: read("bench_started", "count"),
    finished: read("iterations", "count"),
    dropped: read("dropped_iterations", "count"),
    requests: read("http_reqs", "count"),
    virtual_users_max: read("vus_max", "value"),
  };
}
