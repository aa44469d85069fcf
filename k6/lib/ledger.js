// One record for each finished request: what became of it. k6/recorder writes them, Python reads them.

// What a request does, by the number that its record has (load/ledger.py: OPERATIONS).
export const WRITE = 0;
export const SEARCH = 1;

export const WRONG_ACK = 9001; // 201, but Location does not name the id that was sent
export const END_OF_FILE = 9002; // connection closed without an answer; k6 has no specific code for it
export const INTERRUPTED = 9003; // k6 itself was stopped before the answer
export const REFUSED_BY_APPLICATION = 9005; // 503 at the cap of requests in flight
export const REFUSED_BY_STORE = 9006; // 503: the store or the broker could not take it in time
export const WRONG_TOTAL = 9007; // 200, but the total is not the number of posts with the keyword
const UNSPECIFIED = 1000; // k6's code for errors without a specific one
const TOTAL = /"total":([0-9]+)/; // within a post's text the quotes would be escaped

/** By the answer's X-Refused-By. @type {{[hop: string]: number | undefined}} */
const REFUSED_BY = { application: REFUSED_BY_APPLICATION, store: REFUSED_BY_STORE };

/**
 * @typedef {object} Answer what is used of k6's response
 * @property {number} status
 * @property {string} error
 * @property {number} error_code
 * @property {{blocked: number, duration: number}} timings
 * @property {{[name: string]: string | string[]}} headers
 * @property {unknown} body
 */

/**
 * Our code for an answer that is not what its status says, else 0.
 * @typedef {(answer: Answer) => number} Objection
 */

/**
 * Sends a request and records what became of it.
 * @param {import("k6/x/ledger").Ledger} ledger
 * @param {number} operation WRITE or SEARCH
 * @param {number} sequence
 * @param {() => Answer} send
 * @param {Objection} objection
 */
export function recorded(ledger, operation, sequence, send, objection) {
  const startedMs = ledger.begin();
  const answer = send();
  const { status, timings } = answer;
  // k6's own times are 0 for a connection that failed.
  const blocked = status === 0 ? 0 : timings.blocked;
  const duration = status === 0 ? ledger.now() - startedMs : timings.duration;
  ledger.record(operation, sequence, startedMs, blocked, duration, status, objection(answer) || codeOf(answer));
}

/**
 * A 201 must name the id that was sent.
 * @param {string} id
 * @returns {Objection}
 */
export function acknowledging(id) {
  return ({ status, headers }) => (status === 201 && !String(headers["Location"]).endsWith(`/${id}`) ? WRONG_ACK : 0);
}

/**
 * A search must say how many posts there are; more only where posts are added meanwhile.
 * @param {number} expected
 * @param {boolean} growing
 * @returns {Objection}
 */
export function totalling(expected, growing) {
  return ({ status, body }) => {
    if (status !== 200) return 0;
    const total = Number(TOTAL.exec(String(body))?.[1]); // NaN, which equals nothing, where there is none
    return total === expected || (growing && total > expected) ? 0 : WRONG_TOTAL;
  };
}

/**
 * @param {Answer} answer
 * @returns {number}
 */
function codeOf(answer) {
  if (answer.status === 503) {
    return REFUSED_BY[String(answer.headers["X-Refused-By"])] ?? answer.error_code;
  }
  if (answer.error_code === UNSPECIFIED) {
    if (answer.error.includes("EOF")) return END_OF_FILE;
    if (answer.error.includes("context canceled")) return INTERRUPTED;
  }
  return answer.error_code;
}
