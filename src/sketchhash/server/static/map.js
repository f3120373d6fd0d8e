// @ts-check
/** A map of codes: near dots are near codes, and a dot's colour is its label. */

import { thumbnailAddress } from "./api.js";
import { part } from "./dom.js";

/** @typedef {import("./api.js").MapPoint} MapPoint */

const DOT_RADIUS = 3.5;
const REACH = 14;
const EDGE = 10;
// Neighbouring labels get hues far apart: steps of the golden angle.
const GOLDEN_ANGLE = 137.508;

export class CodeMap {
  #canvas = part("map-canvas", HTMLCanvasElement);
  #tip = part("map-tip", HTMLElement);
  #tipImage = part("map-tip-image", HTMLImageElement);
  #tipLabel = part("map-tip-label", HTMLElement);
  /** @type {{ point: MapPoint, x: number, y: number, colour: string }[]} */
  #dots = [];

  constructor() {
    this.#canvas.addEventListener("pointermove", (event) => this.#pointAt(event.offsetX, event.offsetY));
    this.#canvas.addEventListener("pointerleave", () => (this.#tip.hidden = true));
    new ResizeObserver(() => this.#render()).observe(this.#canvas);
  }

  /** @param {MapPoint[]} points */
  show(points) {
    const labels = [...new Set(points.map(({ label }) => label))].sort();
    const across = span(points.map(({ x }) => x));
    const down = span(points.map(({ y }) => y));
    this.#dots = points.map((point) => ({
      point,
      x: across(point.x),
      y: down(point.y),
      colour: `oklch(0.65 0.14 ${(labels.indexOf(point.label) * GOLDEN_ANGLE) % 360})`,
    }));
    this.#render();
  }

  #render() {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const context = this.#canvas.getContext("2d");
    if (!context || !width) return;
    this.#canvas.width = width * devicePixelRatio;
    this.#canvas.height = height * devicePixelRatio;
    context.scale(devicePixelRatio, devicePixelRatio);
    context.globalAlpha = 0.8;
    for (const dot of this.#dots) {
      context.fillStyle = dot.colour;
      context.beginPath();
      context.arc(...this.#placeOf(dot), DOT_RADIUS, 0, 2 * Math.PI);
      context.fill();
    }
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  #pointAt(x, y) {
    const away = (/** @type {{ x: number, y: number }} */ dot) => {
      const [dotX, dotY] = this.#placeOf(dot);
      return Math.hypot(dotX - x, dotY - y);
    };
    const nearest = this.#dots.reduce((best, dot) => (away(dot) < away(best) ? dot : best), this.#dots[0]);
    this.#tip.hidden = !nearest || away(nearest) > REACH;
    if (this.#tip.hidden) return;
    const [left, top] = this.#placeOf(nearest);
    this.#tip.style.setProperty("--x", `${left}px`);
    this.#tip.style.setProperty("--y", `${top}px`);
    const address = thumbnailAddress(nearest.point.id);
    if (this.#tipImage.getAttribute("src") !== address) this.#tipImage.src = address;
    this.#tipLabel.textContent = nearest.point.label ?? "no label";
  }

  /**
   * @param {{ x: number, y: number }} dot
   * @returns {[number, number]}
   */
  #placeOf({ x, y }) {
    return [
      EDGE + x * (this.#canvas.clientWidth - 2 * EDGE),
      EDGE + y * (this.#canvas.clientHeight - 2 * EDGE),
    ];
  }
}

/**
 * Give a function from values to their share of the way from the lowest to the highest.
 * @param {number[]} values
 * @returns {(value: number) => number}
 */
function span(values) {
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  return (value) => (high > low ? (value - low) / (high - low) : 0.5);
}
