// The write that every load sends, and every variant answers.

import { SharedArray } from "k6/data";
import http from "k6/http";

const PARAMETERS = {
  // No Idempotency-Key header: Go's transport silently sends such a POST again when a connection breaks.
  headers: { "Content-Type": "application/json" },
  timeout: "15s", // the outermost: pool, confirm, bulk 2 s < application 5 s < proxy 10 s
  redirects: 0,
};

/**
 * What such a load asks of k6, beside its scenario.
 * @type {import("k6/options").Options}
 */
export const OPTIONS = {
  discardResponseBodies: true, // Location names the id, too
  systemTags: ["status", "error_code"],
};

/**
 * Gives what sends the post of a sequence and an id. To be called where k6 initialises.
 * @param {import("./config.js").Config} config
 * @returns {(sequence: number, id: string) => import("k6/http").Response}
 */
export function poster({ target, contentFile }) {
  const contents = new SharedArray("contents", () => JSON.parse(open(contentFile)));
  const url = `${target}/api/posts`;
  return (sequence, id) =>
    http.post(url, JSON.stringify({ id, content: contents[sequence % contents.length] }), PARAMETERS);
}
