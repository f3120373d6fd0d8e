// @ts-check
/** A drawing: strokes on a square sheet, with undo, redo and an eraser. */

/** @typedef {readonly [x: number, y: number]} Point */
/** @typedef {readonly Point[]} Stroke */
/** @typedef {readonly Stroke[]} Strokes */

/** The side of the sheet, in the units of strokes, however large it is shown. */
export const SHEET_SIDE = 512;

/**
 * Strokes are never changed in place, so a step of undo is simply the previous list.
 * Dispatches a `change` event after every change, and `settle` when a gesture, or a step back or forth, is complete.
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

  /** Begin a gesture; everything it changes is one step of undo. */
  begin() {
    this.#gestureStart = this.#strokes;
  }

  /** End a gesture. */
  end() {
    if (this.#strokes !== this.#gestureStart) this.#settle();
  }

  /** @param {Point} point */
  startStroke(point) {
    this.#change([...this.#strokes, [point]]);
  }

  /** @param {Point[]} points */
  extendStroke(points) {
    const last = this.#strokes.at(-1);
    if (last && points.length) this.#change([...this.#strokes.slice(0, -1), [...last, ...points]]);
  }

  /**
   * Erase what lies within `radius` of the line from one point to another.
   * @param {Point} from
   * @param {Point} to
   * @param {number} radius
   */
  erase(from, to, radius) {
    this.#change(withoutPath(this.#strokes, from, to, radius));
  }

  clear() {
    if (!this.isEmpty) this.replace([]);
  }

  /** Draw something else, in one step. @param {Strokes} strokes */
  replace(strokes) {
    this.begin();
    this.#change(strokes);
    this.end();
  }

  undo() {
    this.#step(this.#past, this.#future);
  }

  redo() {
    this.#step(this.#future, this.#past);
  }

  /** @param {Strokes} strokes */
  #change(strokes) {
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
    this.#settle();
  }

  #settle() {
    this.begin();
    this.dispatchEvent(new Event("settle"));
  }

  /** @param {Strokes} strokes */
  #show(strokes) {
    this.#strokes = strokes;
    this.dispatchEvent(new Event("change"));
  }
}

const STORED_AS = "sketchhash.drawing";

/**
 * Keep a drawing in this tab, so that it survives a reload, and take up the one that was kept; a tab that is closed
 * forgets it.
 * @param {Drawing} drawing
 */
export function keepInTab(drawing) {
  const kept = readStrokes(sessionStorage.getItem(STORED_AS));
  if (kept.length) drawing.replace(kept);
  drawing.addEventListener("settle", () => sessionStorage.setItem(STORED_AS, JSON.stringify(drawing.strokes)));
}

/**
 * Parse strokes, or return none if the text is of someone else.
 * @param {string | null} text
 * @returns {Strokes}
 */
function readStrokes(text) {
  const isPoint = (/** @type {unknown} */ point) =>
    Array.isArray(point) && point.length === 2 && point.every((coordinate) => Number.isFinite(coordinate));
  try {
    const strokes = JSON.parse(text ?? "[]");
    return strokes.every((/** @type {unknown[]} */ stroke) => stroke.length && stroke.every(isPoint)) ? strokes : [];
  } catch {
    return [];
  }
}

/**
 * Return the strokes without what lies near a line; the same list if nothing does.
 * @param {Strokes} strokes
 * @param {Point} from
 * @param {Point} to
 * @param {number} radius
 * @returns {Strokes}
 */
function withoutPath(strokes, from, to, radius) {
  const steps = Math.max(1, Math.ceil(distance(from, to) / (radius / 2)));
  let left = strokes;
  for (let step = 1; step <= steps; step++) {
    const centre = between(from, to, step / steps);
    left = left.flatMap((stroke) => piecesOutside(stroke, centre, radius));
  }
  const isUntouched = left.length === strokes.length && left.every((stroke, index) => stroke === strokes[index]);
  return isUntouched ? strokes : left;
}

/**
 * Cut a circle out of a stroke, and return the pieces that are left.
 * @param {Stroke} stroke
 * @param {Point} centre
 * @param {number} radius
 * @returns {Stroke[]}
 */
function piecesOutside(stroke, centre, radius) {
  const isOutside = (/** @type {Point} */ point) => distance(point, centre) >= radius;
  if (stroke.length === 1) return isOutside(stroke[0]) ? [stroke] : [];

  /** @type {Point[][]} */
  const pieces = [[]];
  let isCut = !isOutside(stroke[0]);
  if (!isCut) pieces[0].push(stroke[0]);
  for (let i = 1; i < stroke.length; i++) {
    const [a, b] = [stroke[i - 1], stroke[i]];
    const { enter, leave } = crossings(a, b, centre, radius);
    if (0 < enter && enter < 1) {
      pieces.at(-1)?.push(between(a, b, enter));
      pieces.push([]);
      isCut = true;
    }
    if (0 < leave && leave < 1) pieces.push([between(a, b, leave)]);
    if (isOutside(b)) pieces.at(-1)?.push(b);
  }
  // A piece of one point is a remnant on the circle's edge, not something that was drawn.
  return isCut ? pieces.filter((piece) => piece.length > 1) : [stroke];
}

/**
 * Return where the line through a and b meets the circle, as fractions of the way from a to b; NaN if it misses.
 * @param {Point} a
 * @param {Point} b
 * @param {Point} centre
 * @param {number} radius
 */
function crossings(a, b, centre, radius) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const [cx, cy] = [centre[0] - a[0], centre[1] - a[1]];
  const squaredLength = dx * dx + dy * dy;
  const nearest = (cx * dx + cy * dy) / squaredLength;
  const half = Math.sqrt(nearest * nearest - (cx * cx + cy * cy - radius * radius) / squaredLength);
  return { enter: nearest - half, leave: nearest + half };
}

/**
 * @param {Point} a
 * @param {Point} b
 */
function distance(a, b) {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

/**
 * @param {Point} a
 * @param {Point} b
 * @param {number} fraction
 * @returns {Point}
 */
function between(a, b, fraction) {
  return [a[0] + (b[0] - a[0]) * fraction, a[1] + (b[1] - a[1]) * fraction];
}
