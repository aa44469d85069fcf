// One line for each finished request: what became of it. scripts/src/writepath/load/ledger.py reads them.

export const WRONG_ACK = 9001; // 201, but Location does not name the id that was sent
export const END_OF_FILE = 9002; // connection closed without an answer; k6 has no code of its own for it
export const INTERRUPTED = 9003; // k6 itself was stopped before the answer
const UNSPECIFIED = 1000; // k6's code for what it has no other for

/**
 * @typedef {object} Answer what is used of k6's response
 * @property {number} status
 * @property {string} error
 * @property {number} error_code
 * @property {{blocked: number, duration: number}} timings
 * @property {{[name: string]: string | string[]}} headers
 */

/**
 * `seq,start_ms,blocked_ms,duration_ms,status,error_code`
 * @param {number} sequence
 * @param {string} id that was sent
 * @param {number} startedMs epoch
 * @param {number} elapsedMs until http.post returned; k6's own times are 0 for a connection that failed
 * @param {Answer} answer
 * @returns {string}
 */
export function ledgerLine(sequence, id, startedMs, elapsedMs, answer) {
  const { status, timings } = answer;
  const blocked = status === 0 ? 0 : timings.blocked;
  const duration = status === 0 ? elapsedMs : timings.duration;
  return `${sequence},${startedMs},${blocked.toFixed(3)},${duration.toFixed(3)},${status},${codeOf(answer, id)}`;
}

/**
 * @param {Answer} answer
 * @param {string} id
 * @returns {number}
 */
function codeOf(answer, id) {
  if (answer.status === 201 && !String(answer.headers["Location"]).endsWith(`/${id}`)) {
    return WRONG_ACK;
  }
  if (answer.error_code === UNSPECIFIED) {
    if (answer.error.includes("EOF")) return END_OF_FILE;
    if (answer.error.includes("context canceled")) return INTERRUPTED;
  }
  return answer.error_code;
}
