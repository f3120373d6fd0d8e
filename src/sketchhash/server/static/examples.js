// @ts-check
/** Drawings to try on an empty sheet, and the picture that invites to draw. */

import { backEnd } from "./backend.js";
import { byId, make } from "./dom.js";
import { SHEET_SIDE } from "./drawing.js";

/** @typedef {import("./drawing.js").Strokes} Strokes */

const SVG = "http://www.w3.org/2000/svg";

export class Examples {
  #list = byId("examples", HTMLElement);
  #picture = byId("invitation-drawing", SVGSVGElement);
  #isAsked = false;
  /** @type {(strokes: Strokes) => void} */
  #draw;

  /** @param {(strokes: Strokes) => void} draw called with the example that is chosen */
  constructor(draw) {
    this.#draw = draw;
  }

  /** Show the examples of this gallery; they are asked for once, when there is room for them. */
  async load() {
    if (this.#isAsked) return;
    this.#isAsked = true;
    const examples = await backEnd.examples().catch(() => {
      this.#isAsked = false;
      return [];
    });
    if (examples.length === 0) return;
    this.#picture.setAttribute("viewBox", `0 0 ${SHEET_SIDE} ${SHEET_SIDE}`);
    this.#picture.replaceChildren(...pathsOf(examples[0].strokes));
    this.#list.replaceChildren(...examples.map(({ name, strokes }) => make("li", {}, this.#button(name, strokes))));
  }

  /**
   * @param {string} name
   * @param {Strokes} strokes
   */
  #button(name, strokes) {
    const picture = document.createElementNS(SVG, "svg");
    picture.setAttribute("viewBox", `0 0 ${SHEET_SIDE} ${SHEET_SIDE}`);
    picture.append(...pathsOf(strokes));
    const button = make("button", { type: "button", className: "example", title: `Try: ${name}` }, make("span", {}, name));
    button.prepend(picture);
    button.addEventListener("click", () => this.#draw(strokes));
    return button;
  }
}

/** @param {Strokes} strokes */
function pathsOf(strokes) {
  return strokes.map((stroke) => {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", stroke.map(([x, y], index) => `${index ? "L" : "M"}${x} ${y}`).join(""));
    return path;
  });
}
