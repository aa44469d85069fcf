// The session that every load of sessions sends: a user logs in, then gets lists with the token.

import { openEntries, openLedger } from "k6/x/ledger";

export const REQUESTS = 6; // of a session: a log-in and five lists

/**
 * @typedef {object} Visit
 * @property {object} body name and password
 * @property {string[]} lists their paths, as many in each session
 */

/**
 * Returns a function that sends the next session, and the ledger in which it is recorded. To be called where k6
 * initialises.
 * @param {import("./config.js").Config & {requestsFile: string}} config
 */
export function visitor({ target, contentFile, ledgerFile, requestsFile, timeoutSeconds }) {
  const ledger = openLedger(ledgerFile, target, timeoutSeconds, requestsFile);
  /** @type {(sequence: number) => Visit} */
  const visitOf = openEntries(contentFile);
  function visit() {
    const { body, lists } = visitOf(ledger.sequence());
    return ledger.session("/api/sessions", JSON.stringify(body), lists);
  }
  return { ledger, visit };
}
