// The id of a post says which run and which request it belongs to, so that every write can be looked up again.

/**
 * UUIDv8 `rrrrrrrr-rrrr-8rrr-8sss-ssssssssssss`: r = the run's 15 hex digits, s = the sequence in 15 hex digits.
 * @param {string} runId
 * @param {number} sequence
 * @returns {string}
 */
export function encodeId(runId, sequence) {
  const s = sequence.toString(16).padStart(15, "0");
  return `${runId.slice(0, 8)}-${runId.slice(8, 12)}-8${runId.slice(12)}-8${s.slice(0, 3)}-${s.slice(3)}`;
}
