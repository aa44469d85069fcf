// The search that every load of searches sends, and every variant answers.

import { SharedArray } from "k6/data";
import http from "k6/http";

const PARAMETERS = { timeout: "15s", redirects: 0 }; // as a write's

/**
 * @typedef {object} Question
 * @property {string} keyword percent-encoded for the URL
 * @property {number} total posts that contain it
 */

/**
 * Returns the search of a sequence number, and a function that sends it. To be called where k6 initialises.
 * @param {import("./config.js").Config} config
 */
export function searcher({ target, contentFile }) {
  /** @type {Question[]} */
  const questions = new SharedArray("questions", () => JSON.parse(open(contentFile)));
  const url = `${target}/api/posts?size=20&keyword=`;
  return {
    /** @param {number} sequence @returns {Question} */
    questionOf: (sequence) => questions[sequence % questions.length],
    /** @param {Question} question @returns {import("k6/http").Response} */
    ask: ({ keyword }) => http.get(`${url}${keyword}`, PARAMETERS),
  };
}
