// @ts-check
/** The buttons beside the sheet. */

import { part } from "./dom.js";

export class Tools {
  /** @type {import("./drawing.js").Drawing} */
  #drawing;
  /** @type {import("./canvas.js").Sheet} */
  #sheet;
  #pen = part("tool-pen", HTMLButtonElement);
  #eraser = part("tool-eraser", HTMLButtonElement);
  #undo = part("tool-undo", HTMLButtonElement);
  #redo = part("tool-redo", HTMLButtonElement);
  #clear = part("tool-clear", HTMLButtonElement);
  #hint = part("sheet-hint", HTMLElement);

  /**
   * @param {import("./drawing.js").Drawing} drawing
   * @param {import("./canvas.js").Sheet} sheet
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

  /** @param {import("./canvas.js").Tool} tool */
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
