// @ts-check
/** The sheet on the screen: pointers become strokes, and strokes become ink. */

import { part } from "./dom.js";
import { SHEET_SIDE } from "./drawing.js";

/** @typedef {import("./drawing.js").Point} Point */
/** @typedef {import("./drawing.js").Stroke} Stroke */
/** @typedef {"pen" | "eraser"} Tool */

const INK_WIDTH = SHEET_SIDE / 120;
const ERASER_RADIUS = SHEET_SIDE / 36;
// Closer points add nothing to the picture, and a drawing may not have endlessly many.
const SHORTEST_STEP = 1.5;
const PEN_ERASER_BUTTON = 32;

export class Sheet {
  /** @type {Tool} */
  tool = "pen";
  /** @type {HTMLCanvasElement} */
  #canvas;
  /** @type {import("./drawing.js").Drawing} */
  #drawing;
  /** @type {Tool | null} */
  #inHand = null;
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
    canvas.addEventListener("pointerleave", () => this.point(null));
    drawing.addEventListener("change", () => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(canvas);
  }

  /**
   * Show where the pen or the eraser is, for who cannot see a mouse pointer there.
   * @param {Point | null} place
   */
  point(place) {
    this.#cursor = place;
    this.redraw();
  }

  /** Draw again before the next frame, once however often it is asked. */
  redraw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#render());
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (!event.isPrimary || (event.button !== 0 && event.buttons !== PEN_ERASER_BUTTON)) return;
    this.#canvas.setPointerCapture(event.pointerId);
    this.#inHand = event.buttons === PEN_ERASER_BUTTON ? "eraser" : this.tool;
    this.#last = this.#placeOf(event);
    this.#drawing.begin();
    if (this.#inHand === "pen") this.#drawing.startStroke(this.#last);
    else this.#rubTo(this.#last);
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const isErasing = (this.#inHand ?? this.tool) === "eraser";
    if (isErasing) this.point(this.#placeOf(event));
    if (!this.#inHand || !event.isPrimary) return;
    const coalesced = event.getCoalescedEvents?.() ?? [];
    const places = (coalesced.length ? coalesced : [event]).map((one) => this.#placeOf(one));
    if (isErasing) places.forEach((place) => this.#rubTo(place));
    else this.#drawing.extendStroke(places.filter((place) => this.#isStep(place)));
  }

  /** @param {PointerEvent} event */
  #up(event) {
    if (event.isPrimary) this.#inHand = null;
  }

  /** @param {Point} place */
  #rubTo(place) {
    this.#drawing.rub(this.#last, place, ERASER_RADIUS);
    this.#last = place;
  }

  /** @param {Point} place */
  #isStep(place) {
    const isFar = Math.hypot(place[0] - this.#last[0], place[1] - this.#last[1]) >= SHORTEST_STEP;
    if (isFar) this.#last = place;
    return isFar;
  }

  /**
   * @param {PointerEvent} event
   * @returns {Point}
   */
  #placeOf(event) {
    const box = this.#canvas.getBoundingClientRect();
    const place = (/** @type {number} */ offset) => Math.round((offset / box.width) * SHEET_SIDE * 10) / 10;
    return [place(event.clientX - box.left), place(event.clientY - box.top)];
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
    for (const stroke of this.#drawing.strokes) inkStroke(context, stroke);
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
 * Draw a smooth line: curves from middle to middle, bent by the points between.
 * @param {CanvasRenderingContext2D} context
 * @param {Stroke} stroke
 */
function inkStroke(context, stroke) {
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
 * @param {HTMLCanvasElement} canvas
 * @param {import("./drawing.js").Drawing} drawing
 * @param {Sheet} sheet
 * @param {(words: string) => void} announce
 */
export function drawWithArrows(canvas, drawing, sheet, announce) {
  /** @type {Point} */
  let place = [SHEET_SIDE / 2, SHEET_SIDE / 2];
  let isDown = false;

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " ") togglePen();
    else if (event.key in DIRECTIONS) move(DIRECTIONS[event.key], event.shiftKey ? FINE_STEP : STEP);
    else return;
    event.preventDefault();
    sheet.point(place);
  });
  canvas.addEventListener("blur", () => {
    isDown = false;
    sheet.point(null);
  });

  function togglePen() {
    isDown = !isDown;
    announce(isDown ? "Pen down" : "Pen up");
    if (!isDown) return;
    drawing.begin();
    drawing.startStroke(place);
  }

  /**
   * @param {Point} direction
   * @param {number} step
   */
  function move([x, y], step) {
    place = [inside(place[0] + x * step), inside(place[1] + y * step)];
    if (isDown) drawing.extendStroke([place]);
  }
}

/** @param {number} coordinate */
function inside(coordinate) {
  return Math.min(Math.max(coordinate, 0), SHEET_SIDE);
}

export class Tools {
  /** @type {import("./drawing.js").Drawing} */
  #drawing;
  /** @type {Sheet} */
  #sheet;
  #pen = part("tool-pen", HTMLButtonElement);
  #eraser = part("tool-eraser", HTMLButtonElement);
  #undo = part("tool-undo", HTMLButtonElement);
  #redo = part("tool-redo", HTMLButtonElement);
  #clear = part("tool-clear", HTMLButtonElement);
  #hint = part("sheet-hint", HTMLElement);

  /**
   * @param {import("./drawing.js").Drawing} drawing
   * @param {Sheet} sheet
   */
  constructor(drawing, sheet) {
    this.#drawing = drawing;
    this.#sheet = sheet;
    this.#pen.addEventListener("click", () => this.take("pen"));
    this.#eraser.addEventListener("click", () => this.take("eraser"));
    this.#undo.addEventListener("click", () => drawing.undo());
    this.#redo.addEventListener("click", () => drawing.redo());
    this.#clear.addEventListener("click", () => drawing.clear());
    drawing.addEventListener("change", () => this.#refresh());
    this.#refresh();
  }

  /** @param {Tool} tool */
  take(tool) {
    this.#sheet.tool = tool;
    this.#sheet.point(null);
    this.#pen.ariaPressed = String(tool === "pen");
    this.#eraser.ariaPressed = String(tool === "eraser");
  }

  #refresh() {
    this.#undo.disabled = !this.#drawing.canUndo;
    this.#redo.disabled = !this.#drawing.canRedo;
    this.#clear.disabled = this.#drawing.isEmpty;
    this.#hint.hidden = !this.#drawing.isEmpty;
  }
}
