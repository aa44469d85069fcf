// From phases to k6's executor. scripts/src/writepath/load/plan.py computes the same send times; a test runs k6 to compare.

const RATES_PER_UNIT = 1000; // k6 takes whole rates only: a thousandth of a request per second is 1 in 1,000 s
const TAIL_SECONDS = 60;

/**
 * The open model: the scenario that starts a request at each scheduled send time.
 * @param {{phases: import("./config.js").Phase[], virtualUsers: number}} load
 * @returns {import("k6/options").RampingArrivalRateScenario}
 */
export function arrivals({ phases, virtualUsers }) {
  return {
    executor: "ramping-arrival-rate",
    startRate: perUnit(phases[0].from_per_s),
    timeUnit: `${RATES_PER_UNIT}s`,
    stages: stagesOf(phases),
    preAllocatedVUs: virtualUsers,
    maxVUs: virtualUsers, // making more of them during the load would skew it
  };
}

/**
 * @param {import("./config.js").Phase[]} phases
 * @returns {import("k6/options").Stage[]}
 */
export function stagesOf(phases) {
  const stages = [];
  let rate = phases[0].from_per_s;
  for (const phase of phases) {
    if (phase.from_per_s !== rate) {
      stages.push({ duration: "0s", target: perUnit(phase.from_per_s) });
    }
    stages.push({ duration: `${Math.round(phase.seconds * 1000)}ms`, target: perUnit(phase.to_per_s) });
    rate = phase.to_per_s;
  }
  // k6's clock starts before its schedule does, and at the clock's end it silently leaves out what is still due.
  // The tail costs no time: k6 ends after the last request.
  stages.push({ duration: "0s", target: 0 }, { duration: `${TAIL_SECONDS}s`, target: 0 });
  return stages;
}

/** @param {number} perSecond */
function perUnit(perSecond) {
  return Math.round(perSecond * RATES_PER_UNIT);
}
