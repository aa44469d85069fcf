// The posts of scenarios/ramp.js by k6 alone: nothing recorded, nothing counted. The difference is the cost of recording.

import exec from "k6/execution";

import { readConfig } from "../lib/config.js";
import { encodeId } from "../lib/ids.js";
import { scenarioOf } from "../lib/model.js";
import { OPTIONS, poster } from "../lib/posts.js";
import { countsOf } from "../lib/summary.js";

const config = readConfig(__ENV);
const post = poster(config);

/** @type {import("k6/options").Options} */
export const options = { scenarios: { writes: scenarioOf(config) }, ...OPTIONS };

export default function writePost() {
  const sequence = exec.scenario.iterationInTest;
  post(sequence, encodeId(config.runId, sequence));
}

/** @param {any} data */
export function handleSummary(data) {
  return { [config.summaryFile]: JSON.stringify(countsOf(data, 0)) };
}
