// The write that every load sends, and every variant answers.

import { openEntries, openLedger } from "k6/x/ledger";

import { encodeId } from "./ids.js";

/**
 * Returns a function that sends the next post, and the ledger in which it is recorded. To be called where k6 initialises.
 * @param {import("./config.js").Config} config
 */
export function writer({ target, runId, contentFile, ledgerFile, timeoutSeconds }) {
  const ledger = openLedger(ledgerFile, target, timeoutSeconds);
  /** @type {(sequence: number) => string} */
  const contentOf = openEntries(contentFile);
  function write() {
    const sequence = ledger.sequence();
    const id = encodeId(runId, sequence);
    return ledger.write("/api/posts", id, JSON.stringify({ id, content: contentOf(sequence) }));
  }
  return { ledger, write };
}
