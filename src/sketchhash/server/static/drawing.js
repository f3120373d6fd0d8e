// @ts-check
/** A drawing in the making: strokes on a square sheet, and every step back and forth. */

import { erase } from "./eraser.js";

/** @typedef {readonly [x: number, y: number]} Point */
/** @typedef {readonly Point[]} Stroke */
/** @typedef {readonly Stroke[]} Strokes */

/** The side of the sheet. Strokes keep these units, however large the sheet is shown. */
export const SHEET_SIDE = 512;

/**
 * Strokes are never changed in place, so a step of undo is nothing but the list as it was.
 * Tells of every change with a `change` event.
 */
export class Drawing extends EventTarget {
  /** @type {Strokes} */
  #strokes = [];
  /** @type {Strokes} */
  #gestureStart = this.#strokes;
  /** @type {Strokes[]} */
  #past = [];
  /** @type {Strokes[]} */
  #future = [];

  get strokes() {
    return this.#strokes;
  }

  get isEmpty() {
    return this.#strokes.length === 0;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /** Begin a gesture: whatever it changes is one step of undo. */
  begin() {
    this.#gestureStart = this.#strokes;
  }

  /** @param {Point} point */
  startStroke(point) {
    this.#become([...this.#strokes, [point]]);
  }

  /** @param {Point[]} points */
  extendStroke(points) {
    const last = this.#strokes.at(-1);
    if (last && points.length) this.#become([...this.#strokes.slice(0, -1), [...last, ...points]]);
  }

  /**
   * Rub out what lies within `radius` of the way from one point to another.
   * @param {Point} from
   * @param {Point} to
   * @param {number} radius
   */
  rub(from, to, radius) {
    this.#become(erase(this.#strokes, from, to, radius));
  }

  clear() {
    this.begin();
    if (!this.isEmpty) this.#become([]);
  }

  undo() {
    this.#step(this.#past, this.#future);
  }

  redo() {
    this.#step(this.#future, this.#past);
  }

  /** @param {Strokes} strokes */
  #become(strokes) {
    if (strokes === this.#strokes) return;
    if (this.#past.at(-1) !== this.#gestureStart) this.#past.push(this.#gestureStart);
    this.#future = [];
    this.#show(strokes);
  }

  /**
   * @param {Strokes[]} from
   * @param {Strokes[]} to
   */
  #step(from, to) {
    const strokes = from.pop();
    if (!strokes) return;
    to.push(this.#strokes);
    this.#show(strokes);
    this.begin();
  }

  /** @param {Strokes} strokes */
  #show(strokes) {
    this.#strokes = strokes;
    this.dispatchEvent(new Event("change"));
  }
}
