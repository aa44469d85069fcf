// The read that every load of reads sends: a path of the content file.

import { openEntries, openLedger } from "k6/x/ledger";

/**
 * Returns a function that sends the next read, and the ledger in which it is recorded. To be called where k6 initialises.
 * @param {import("./config.js").Config} config
 */
export function reader({ target, contentFile, ledgerFile, timeoutSeconds }) {
  const ledger = openLedger(ledgerFile, target, timeoutSeconds);
  /** @type {(sequence: number) => string} */
  const pathOf = openEntries(contentFile);
  function read() {
    return ledger.read(pathOf(ledger.sequence()));
  }
  return { ledger, read };
}
