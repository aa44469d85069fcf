// Draws the selection: a mark at each value, its shape by durability class, and a line over the range.
import * as Plot from "@observablehq/plot";
import { shown } from "./selection.js";

/** @typedef {import("./selection.js").Line} Line */

/**
 * @typedef {object} Point
 * @property {number} at its place
 * @property {string} label
 * @property {string} text
 * @property {number | null} value
 * @property {number | null} low
 * @property {number | null} high
 * @property {string} colour
 * @property {"square" | "diamond" | "circle" | "triangle"} symbol
 * @property {number} opacity
 */

const FONT_PX = 13;
const TICK_PX = 70; // room for the number at a tick
const WIDE_PX = 700; // from which labels are beside their marks, not above them
const LOG_FROM = 100; // largest value ÷ smallest, from which the axis is logarithmic
/** @type {Record<string, Pick<Point, "colour" | "symbol">>} */
const CLASSES = {
  A: { colour: "var(--class-a)", symbol: "square" },
  B: { colour: "var(--class-b)", symbol: "diamond" },
  C: { colour: "var(--class-c)", symbol: "circle" },
};
const OTHER = { colour: "var(--ink)", symbol: /** @type {const} */ ("triangle") };

/**
 * The chart; null where no line has a value to draw.
 * @param {Line[]} lines @param {string} header of the axis @param {number} width in pixels
 * @param {(line: Line) => void} open
 * @returns {Element | null}
 */
export function chartOf(lines, header, width, open) {
  const points = lines.map(pointOf);
  const axis = axisOf(points);
  if (axis === null) return null;
  const label = axis.log ? `${header}, log scale` : header;
  const words = points.map(({ label: name, text }) => `${name}: ${text}`).join("; ");
  const layout = layoutOf(points, width);
  const made = Plot.plot({
    width,
    height: layout.line * lines.length + 50,
    marginLeft: layout.left,
    marginRight: layout.right,
    marginBottom: 40,
    style: { fontSize: `${FONT_PX}px`, background: "transparent" },
    x: {
      type: axis.log ? "log" : "linear",
      domain: axis.domain,
      label,
      grid: true,
      ticks: (width - layout.left - layout.right) / TICK_PX,
    },
    y: { type: "band", domain: points.map(({ at }) => at), axis: null },
    marks: marksOf(points, layout),
  });
  // The words of the whole picture are its label; a part with a label and no role would be read twice or not at all.
  for (const part of made.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", `${header}. ${words}`);
  made.addEventListener("click", ({ target }) => {
    const line = target instanceof Element ? lines[placeOf(target)] : undefined;
    if (line) open(line);
  });
  return made;
}

/** @param {Line} line @param {number} at @returns {Point} */
function pointOf({ row, label, figure }, at) {
  const none = { value: null, low: null, high: null };
  const { value, low, high } = typeof figure === "string" ? none : figure;
  const range = { low: low ?? value, high: high ?? value }; // without an infinite end
  const looks = CLASSES[row.durability] ?? OTHER;
  return { at, label, text: shown(figure), value, ...range, ...looks, opacity: row.mark ? 0.4 : 1 };
}

/**
 * @param {Point[]} points
 * @returns {{log: boolean, domain: [number, number]} | null}
 */
function axisOf(points) {
  const known = points.flatMap(({ value, low, high }) => [value, low, high]).filter((one) => one !== null);
  if (!known.length) return null;
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const log = least > 0 && most / least > LOG_FROM;
  return { log, domain: log ? [least / 1.3, most * 1.3] : [Math.min(0, least), Math.max(most, 0) || 1] };
}

/**
 * In pixels: margins, height of a line, of a mark below and of a label above its middle. Values are a column at the right.
 * @param {Point[]} points their labels are shortened to what there is room for @param {number} width of the chart
 */
function layoutOf(points, width) {
  const isWide = width >= WIDE_PX;
  for (const point of points) if (!isWide) point.text = point.text.replace(/ \(.*/, "");
  const right = Math.max(...points.map(({ text }) => widthOf(text))) + 24;
  const widest = Math.max(...points.map(({ label }) => widthOf(label)));
  const label = Math.min(widest, isWide ? width * 0.45 : width - 20);
  for (const point of points) point.label = fitted(point.label, label);
  return isWide
    ? { left: label + 24, right, line: 28, down: 0, up: 0 }
    : { left: 10, right, line: 46, down: 10, up: 10 };
}

/** @param {string} text @returns {number} in pixels, of a bold one */
function widthOf(text) {
  const context = document.createElement("canvas").getContext("2d");
  if (context === null) return text.length * FONT_PX;
  context.font = `600 ${FONT_PX}px system-ui, sans-serif`;
  return context.measureText(text).width;
}

/**
 * Without its middle where there is no room: labels differ at their ends.
 * @param {string} text @param {number} room in pixels
 */
function fitted(text, room) {
  const width = widthOf(text);
  if (width <= room) return text;
  const half = Math.floor((text.length * room) / width / 2) - 1;
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}

/**
 * @param {Point[]} points @param {ReturnType<typeof layoutOf>} layout
 * @returns {Plot.Markish[]}
 */
function marksOf(points, { left, down: dy, up }) {
  const text = { y: "at", fill: "var(--ink)", textAnchor: /** @type {const} */ ("start") };
  return [
    Plot.text(points, { ...text, text: "label", frameAnchor: "left", dx: 10 - left, dy: -up, fontWeight: 600 }),
    Plot.ruleY(points, { y: "at", x1: "low", x2: "high", dy, stroke: "var(--soft)", strokeWidth: 2 }),
    Plot.dot(points, {
      className: "value",
      x: "value",
      y: "at",
      dy,
      r: 6,
      fill: "colour",
      symbol: "symbol",
      opacity: "opacity",
    }),
    Plot.text(points, { ...text, text: "text", frameAnchor: "right", dx: 12, dy }),
  ];
}

/**
 * Of a clicked mark; -1: it is none. D3 keeps a mark's place in the data at its element.
 * @param {Element} target
 */
function placeOf(target) {
  const mark = target.closest(".value > *");
  const place = mark === null ? undefined : Reflect.get(mark, "__data__");
  return typeof place === "number" ? place : -1;
}
