// The write that every load sends, and every variant answers.

import { SharedArray } from "k6/data";
import http from "k6/http";

const PARAMETERS = {
  // No Idempotency-Key header: Go's transport silently retries such a POST when a connection breaks.
  headers: { "Content-Type": "application/json" },
  timeout: "15s", // the outermost: pool, confirm, bulk 2 s < application 5 s < proxy 10 s
  redirects: 0,
};

/**
 * Options of such a load, in addition to its scenario.
 * @type {import("k6/options").Options}
 */
export const OPTIONS = {
  discardResponseBodies: true, // Location names the id, too
  systemTags: ["status", "error_code"],
};

/**
 * Returns a function that sends the post of a sequence number and an id. To be called where k6 initialises.
 * @param {import("./config.js").Config} config
 * @returns {(sequence: number, id: string) => import("k6/http").Response}
 */
export function poster({ target, contentFile }) {
  const contents = new SharedArray("contents", () => JSON.parse(open(contentFile)));
  const url = `${target}/api/posts`;
  return (sequence, id) =>
    http.post(url, JSON.stringify({ id, content: contents[sequence % contents.length] }), PARAMETERS);
}
