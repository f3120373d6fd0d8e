// @ts-check
/** The sheet on the screen: mouse, finger, pen and keyboard draw on it; the tools beside it. */

import { byId } from "./dom.js";
import { SHEET_SIDE } from "./drawing.js";

/** @typedef {import("./drawing.js").Point} Point */
/** @typedef {import("./drawing.js").Stroke} Stroke */
/** @typedef {"pen" | "eraser"} Tool */

const INK_WIDTH = SHEET_SIDE / 120;
const ERASER_RADIUS = SHEET_SIDE / 36;
// Closer points add nothing to the picture, and the number of points is limited.
const SHORTEST_SEGMENT = 1.5;
const PEN_ERASER_BUTTON = 32;

export class Sheet {
  /** @type {Tool} */
  tool = "pen";
  /** @type {HTMLCanvasElement} */
  #canvas;
  /** @type {import("./drawing.js").Drawing} */
  #drawing;
  /** @type {Tool | null} */
  #activeTool = null;
  /** @type {Point} */
  #last = [0, 0];
  /** @type {Point | null} */
  #cursor = null;
  #frame = 0;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {import("./drawing.js").Drawing} drawing
   */
  constructor(canvas, drawing) {
    this.#canvas = canvas;
    this.#drawing = drawing;
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#up(event));
    canvas.addEventListener("pointercancel", (event) => this.#up(event));
    canvas.addEventListener("pointerleave", () => this.showCursor(null));
    drawing.addEventListener("change", () => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(canvas);
  }

  /**
   * Show where the pen or the eraser is, if there is no mouse pointer; null hides it.
   * @param {Point | null} point
   */
  showCursor(point) {
    this.#cursor = point;
    this.redraw();
  }

  /** Redraw before the next frame; several calls make one redraw. */
  redraw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#render());
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (!event.isPrimary || (event.button !== 0 && event.buttons !== PEN_ERASER_BUTTON)) return;
    this.#canvas.setPointerCapture(event.pointerId);
    this.#activeTool = event.buttons === PEN_ERASER_BUTTON ? "eraser" : this.tool;
    this.#last = this.#pointOf(event);
    this.#drawing.begin();
    if (this.#activeTool === "pen") this.#drawing.startStroke(this.#last);
    else this.#eraseTo(this.#last);
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const isErasing = (this.#activeTool ?? this.tool) === "eraser";
    if (isErasing) this.showCursor(this.#pointOf(event));
    if (!this.#activeTool || !event.isPrimary) return;
    const coalesced = event.getCoalescedEvents?.() ?? [];
    const points = (coalesced.length ? coalesced : [event]).map((one) => this.#pointOf(one));
    if (isErasing) points.forEach((point) => this.#eraseTo(point));
    else this.#drawing.extendStroke(points.filter((point) => this.#isFarEnough(point)));
  }

  /** @param {PointerEvent} event */
  #up(event) {
    if (!event.isPrimary) return;
    this.#activeTool = null;
    this.#drawing.end();
  }

  /** @param {Point} point */
  #eraseTo(point) {
    this.#drawing.erase(this.#last, point, ERASER_RADIUS);
    this.#last = point;
  }

  /** @param {Point} point */
  #isFarEnough(point) {
    const isFar = Math.hypot(point[0] - this.#last[0], point[1] - this.#last[1]) >= SHORTEST_SEGMENT;
    if (isFar) this.#last = point;
    return isFar;
  }

  /**
   * @param {PointerEvent} event
   * @returns {Point}
   */
  #pointOf(event) {
    const box = this.#canvas.getBoundingClientRect();
    const onSheet = (/** @type {number} */ offset) => Math.round((offset / box.width) * SHEET_SIDE * 10) / 10;
    return [onSheet(event.clientX - box.left), onSheet(event.clientY - box.top)];
  }

  #render() {
    const context = this.#canvas.getContext("2d");
    if (!context) return;
    const pixels = Math.round(this.#canvas.clientWidth * devicePixelRatio);
    if (this.#canvas.width !== pixels) this.#canvas.width = this.#canvas.height = pixels;
    context.setTransform(pixels / SHEET_SIDE, 0, 0, pixels / SHEET_SIDE, 0, 0);
    context.clearRect(0, 0, SHEET_SIDE, SHEET_SIDE);
    const style = getComputedStyle(this.#canvas);
    context.strokeStyle = style.color;
    context.lineCap = context.lineJoin = "round";
    context.lineWidth = INK_WIDTH;
    for (const stroke of this.#drawing.strokes) drawStroke(context, stroke);
    if (this.#cursor) {
      context.strokeStyle = style.accentColor;
      context.lineWidth = INK_WIDTH / 3;
      context.beginPath();
      context.arc(...this.#cursor, this.tool === "eraser" ? ERASER_RADIUS : INK_WIDTH, 0, 2 * Math.PI);
      context.stroke();
    }
  }
}

/**
 * Draw a smooth line: curves between the middles of segments, with the points as control points.
 * @param {CanvasRenderingContext2D} context
 * @param {Stroke} stroke
 */
function drawStroke(context, stroke) {
  const end = stroke[stroke.length - 1];
  context.beginPath();
  context.moveTo(...stroke[0]);
  for (let i = 1; i < stroke.length - 1; i++) {
    const [x, y] = stroke[i];
    const [nextX, nextY] = stroke[i + 1];
    context.quadraticCurveTo(x, y, (x + nextX) / 2, (y + nextY) / 2);
  }
  context.lineTo(...end);
  context.stroke();
}

const STEP = SHEET_SIDE / 32;
const FINE_STEP = STEP / 4;

/** @type {Record<string, Point>} */
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * Let arrow keys move a pen, and the space bar put it down and lift it.
 * @param {HTMLCanvasElement} canvas
 * @param {import("./drawing.js").Drawing} drawing
 * @param {Sheet} sheet
 * @param {(words: string) => void} announce
 */
export function drawWithKeyboard(canvas, drawing, sheet, announce) {
  /** @type {Point} */
  let point = [SHEET_SIDE / 2, SHEET_SIDE / 2];
  let isDown = false;

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " ") togglePen();
    else if (event.key in DIRECTIONS) move(DIRECTIONS[event.key], event.shiftKey ? FINE_STEP : STEP);
    else return;
    event.preventDefault();
    sheet.showCursor(point);
  });
  canvas.addEventListener("blur", () => {
    isDown = false;
    drawing.end();
    sheet.showCursor(null);
  });

  function togglePen() {
    isDown = !isDown;
    announce(isDown ? "Pen down" : "Pen up");
    if (!isDown) return drawing.end();
    drawing.begin();
    drawing.startStroke(point);
  }

  /**
   * @param {Point} direction
   * @param {number} step
   */
  function move([x, y], step) {
    point = [clamp(point[0] + x * step), clamp(point[1] + y * step)];
    if (isDown) drawing.extendStroke([point]);
  }
}

/** @param {number} coordinate */
function clamp(coordinate) {
  return Math.min(Math.max(coordinate, 0), SHEET_SIDE);
}

/** The buttons beside the sheet. */
export class Tools {
  /** @type {import("./drawing.js").Drawing} */
  #drawing;
  /** @type {Sheet} */
  #sheet;
  #pen = byId("tool-pen", HTMLButtonElement);
  #eraser = byId("tool-eraser", HTMLButtonElement);
  #undo = byId("tool-undo", HTMLButtonElement);
  #redo = byId("tool-redo", HTMLButtonElement);
  #clear = byId("tool-clear", HTMLButtonElement);
  #hint = byId("sheet-hint", HTMLElement);

  /**
   * @param {import("./drawing.js").Drawing} drawing
   * @param {Sheet} sheet
   */
  constructor(drawing, sheet) {
    this.#drawing = drawing;
    this.#sheet = sheet;
    this.#pen.addEventListener("click", () => this.choose("pen"));
    this.#eraser.addEventListener("click", () => this.choose("eraser"));
    this.#undo.addEventListener("click", () => drawing.undo());
    this.#redo.addEventListener("click", () => drawing.redo());
    this.#clear.addEventListener("click", () => this.clear());
    drawing.addEventListener("change", () => this.#refresh());
    this.#refresh();
  }

  /** @param {Tool} tool */
  choose(tool) {
    this.#sheet.tool = tool;
    this.#sheet.showCursor(null);
    this.#pen.ariaPressed = String(tool === "pen");
    this.#eraser.ariaPressed = String(tool === "eraser");
  }

  /** Take an empty sheet, with the pen in hand. */
  clear() {
    this.#drawing.clear();
    this.choose("pen");
  }

  #refresh() {
    this.#undo.disabled = !this.#drawing.canUndo;
    this.#redo.disabled = !this.#drawing.canRedo;
    this.#clear.disabled = this.#drawing.isEmpty;
    this.#hint.hidden = !this.#drawing.isEmpty;
  }
}
