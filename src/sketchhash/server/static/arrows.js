// @ts-check
/** A pen for the keyboard: arrow keys move it, the space bar puts it down and lifts it. */

import { SHEET_SIDE } from "./drawing.js";

/** @typedef {import("./drawing.js").Point} Point */

const STEP = SHEET_SIDE / 32;
const FINE_STEP = STEP / 4;

/** @type {Record<string, Point>} */
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * @param {HTMLCanvasElement} canvas
 * @param {import("./drawing.js").Drawing} drawing
 * @param {import("./canvas.js").Sheet} sheet
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
