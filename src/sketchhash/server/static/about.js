// @ts-check
/** About this gallery: what it holds, which model reads it, and where the time of the last search went. */

import { fetchGallery, fetchMap, thumbnailAddress } from "./api.js";
import { asCount, asDate, asDuration, asSize, describe, make, part } from "./dom.js";

/** @typedef {import("./api.js").Gallery} Gallery */
/** @typedef {import("./api.js").Timings} Timings */
/** @typedef {import("./api.js").MapPoint} MapPoint */

const STAGES = /** @type {const} */ (["ink", "encode", "search"]);

export class About {
  #dialog = part("about", HTMLDialogElement);
  #map = new CodeMap();
  /** @type {Timings | null} */
  lastTimings = null;

  async open() {
    this.#dialog.showModal();
    showTimings(this.lastTimings);
    const problem = part("about-problem", HTMLElement);
    try {
      showGallery(await fetchGallery());
      problem.textContent = "";
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : String(error);
    }
    await this.#showMap();
  }

  /** A service may have no map to give: then there is none to show. */
  async #showMap() {
    const points = await fetchMap().catch(() => []);
    part("map", HTMLElement).hidden = points.length === 0;
    this.#map.show(points);
  }
}

/** @param {Gallery} gallery */
function showGallery(gallery) {
  const { model } = gallery;
  describe(part("about-facts", HTMLElement), [
    ["Photos", asCount(gallery.photos)],
    ["Bits in a code", asCount(gallery.bits)],
    ["Memory of the codes", asSize(gallery.memory_bytes)],
    ["Last indexed", gallery.last_indexed === null ? "never" : asDate(gallery.last_indexed)],
    ["Model", model.name],
    ["sketchhash", gallery.version],
  ]);
  describe(
    part("about-scores", HTMLElement),
    Object.entries(model.scores).map(([measure, score]) => [measure, score.toFixed(3)]),
  );
  part("about-categories-title", HTMLElement).textContent = `What it learnt: ${asCount(model.categories.length)} categories`;
  part("about-categories", HTMLElement).replaceChildren(...model.categories.map((name) => make("li", {}, name)));
  part("about-card", HTMLElement).replaceChildren(...renderMarkdown(model.card));
}

/** @param {Timings | null} timings */
function showTimings(timings) {
  const chart = part("about-timings", HTMLElement);
  if (!timings) return chart.replaceChildren(make("p", {}, "Search once, and its stages show here."));
  const rows = STAGES.filter((stage) => timings[stage] > 0).map((stage) => {
    const milliseconds = timings[stage];
    const bar = make("span", { className: "timing-bar", ariaHidden: "true" });
    bar.style.setProperty("--share", String(milliseconds / Math.max(timings.total, 0.001)));
    return make("div", {}, make("dt", {}, stage), make("dd", {}, bar, asDuration(milliseconds)));
  });
  const total = make("div", {}, make("dt", {}, "total"), make("dd", {}, asDuration(timings.total)));
  return chart.replaceChildren(make("dl", {}, ...rows, total));
}

const DOT_RADIUS = 3.5;
const REACH = 14;
const EDGE = 10;
// Neighbouring labels get hues far apart: steps of the golden angle.
const GOLDEN_ANGLE = 137.508;

class CodeMap {
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

/**
 * Build elements, never HTML from text: a card may come from anywhere.
 * @param {string} text
 * @returns {HTMLElement[]}
 */
function renderMarkdown(text) {
  return text
    .split(/\n\s*\n|(?<=^#+ .*)\n/m)
    .map((block) => block.trim())
    .filter(Boolean)
    .map(renderBlock);
}

/** @param {string} block */
function renderBlock(block) {
  const lines = block.split("\n");
  if (block.startsWith("#")) return make("h4", {}, ...inline(block.replace(/^#+\s*/, "")));
  if (block.startsWith("|")) return renderTable(lines);
  if (/^[-*] /.test(block)) {
    const items = block.split(/\n[-*] /).map((item) => item.replace(/^[-*] /, ""));
    return make("ul", {}, ...items.map((item) => make("li", {}, ...inline(item))));
  }
  return make("p", {}, ...inline(block));
}

/** @param {string[]} lines */
function renderTable([heading, , ...rows]) {
  const table = make("table");
  table.createTHead().append(renderRow(heading, "th"));
  table.createTBody().append(...rows.map((row) => renderRow(row, "td")));
  return make("div", { className: "table-frame", tabIndex: 0 }, table);
}

/**
 * @param {string} row
 * @param {"th" | "td"} tag
 */
function renderRow(row, tag) {
  const cells = row.replace(/^\||\|$/g, "").split(/(?<!\\)\|/);
  return make("tr", {}, ...cells.map((cell) => make(tag, {}, ...inline(cell.trim().replaceAll("\\|", "|")))));
}

/** @param {string} text */
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((piece) => {
    if (/^`.+`$/s.test(piece)) return make("code", {}, piece.slice(1, -1));
    if (/^\*\*.+\*\*$/s.test(piece)) return make("strong", {}, piece.slice(2, -2));
    return piece;
  });
}
