// The search that every load of searches sends, and every variant answers: a keyword's first page.

import { openEntries, openLedger } from "k6/x/ledger";

/**
 * @typedef {object} Question
 * @property {string} keyword percent-encoded for the URL
 * @property {number} total posts that contain it
 */

/**
 * Returns a function that sends the next search, and the ledger in which it is recorded. To be called where k6 initialises.
 * @param {import("./config.js").Config & {growing: boolean}} config
 */
export function searcher({ target, contentFile, ledgerFile, timeoutSeconds, growing }) {
  const ledger = openLedger(ledgerFile, target, timeoutSeconds);
  /** @type {(sequence: number) => Question} */
  const questionOf = openEntries(contentFile);
  function search() {
    const { keyword, total } = questionOf(ledger.sequence());
    ledger.search(`/api/posts?size=20&keyword=${keyword}`, total, growing);
  }
  return { ledger, search };
}
