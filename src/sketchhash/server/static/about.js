// @ts-check
/** About this gallery: what the model knows, numbers, the map, the timings of the last search, the model's card. */

import { openDialog } from "./back.js";
import { backEnd } from "./backend.js";
import { asCount, asDate, asDuration, asSize, byId, counted, describe, make } from "./dom.js";
import { showKnown } from "./guesses.js";

/** @typedef {import("./api.js").Gallery} Gallery */
/** @typedef {import("./api.js").Timings} Timings */
/** @typedef {import("./api.js").MapPoint} MapPoint */

const STAGES = /** @type {const} */ (["ink", "encode", "search"]);

export class About {
  #dialog = byId("about", HTMLDialogElement);
  #map = new CodeMap();
  /** @type {Timings | null} */
  lastTimings = null;
  /** @type {(category: string) => void} */
  #choose;

  /** @param {(category: string) => void} choose called with a kind of thing to search for */
  constructor(choose) {
    this.#choose = choose;
  }

  async open() {
    if (this.#dialog.open) return;
    openDialog(this.#dialog);
    showTimings(this.lastTimings);
    const problem = byId("about-problem", HTMLElement);
    try {
      const gallery = await backEnd.gallery();
      showGallery(gallery);
      this.#showKnown(gallery.model.categories);
      problem.textContent = "";
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : String(error);
    }
    showAddresses(await backEnd.addresses().catch(() => []));
    await this.#showMap();
  }

  /** @param {readonly string[]} categories */
  #showKnown(categories) {
    byId("about-categories-title", HTMLElement).textContent = `What it knows: ${counted(categories.length, "kind")} of things`;
    showKnown(byId("about-categories", HTMLElement), categories, (category) => {
      this.#dialog.close();
      this.#choose(category);
    });
  }

  /** Show the map, if the service has one. */
  async #showMap() {
    const points = await backEnd.map().catch(() => []);
    byId("map", HTMLElement).hidden = points.length === 0;
    this.#map.show(points);
  }
}

/** @param {Gallery} gallery */
function showGallery(gallery) {
  const { model } = gallery;
  describe(byId("about-facts", HTMLElement), [
    ["Photos", asCount(gallery.photos - gallery.drawings)],
    ["Drawings", asCount(gallery.drawings)],
    ["Bits in a code", asCount(gallery.bits)],
    ["Memory of the codes", asSize(gallery.memory_bytes)],
    ["Last indexed", gallery.last_indexed === null ? "never" : asDate(gallery.last_indexed)],
    ["Model", model.name],
    ["sketchhash", gallery.version],
  ]);
  describe(
    byId("about-scores", HTMLElement),
    Object.entries(model.scores).map(([measure, score]) => [measure, score.toFixed(3)]),
  );
  byId("about-scores-title", HTMLElement).hidden = Object.keys(model.scores).length === 0;
  byId("about-card", HTMLElement).replaceChildren(...renderMarkdown(model.card));
}

/** Show where a phone finds the page, if it can. @param {import("./api.js").PageAddress[]} addresses */
function showAddresses(addresses) {
  byId("elsewhere", HTMLElement).hidden = addresses.length === 0;
  if (addresses.length === 0) return;
  const picture = byId("elsewhere-code", SVGSVGElement);
  picture.setAttribute("viewBox", `0 0 ${addresses[0].side} ${addresses[0].side}`);
  picture.querySelector("path")?.setAttribute("d", addresses[0].qr);
  // The token is in the code; shown as text it would be on every screenshot.
  const places = addresses.map(({ address }) => make("a", { href: address }, address.split("#")[0]));
  byId("elsewhere-addresses", HTMLElement).replaceChildren(...places.map((place) => make("li", {}, place)));
}

/** @param {Timings | null} timings */
function showTimings(timings) {
  const chart = byId("about-timings", HTMLElement);
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
const HOVER_RADIUS = 14;
const MARGIN = 10;
const MOST_NAMES = 16;
// Steps of the golden angle give neighbouring labels very different hues.
const GOLDEN_ANGLE = 137.508;

/**
 * A map of codes: photos with similar codes are close together. The colour of a dot is what the photo shows: its label,
 * or else what the model takes it for; the largest groups are named.
 */
class CodeMap {
  #canvas = byId("map-canvas", HTMLCanvasElement);
  #tip = byId("map-tip", HTMLElement);
  #tipImage = byId("map-tip-image", HTMLImageElement);
  #tipLabel = byId("map-tip-label", HTMLElement);
  /** The photo whose thumbnail the tip shows, by id. */
  #tipped = 0;
  /** @type {{ point: MapPoint, x: number, y: number, colour: string }[]} */
  #dots = [];

  constructor() {
    this.#canvas.addEventListener("pointermove", (event) => this.#showTip(event.offsetX, event.offsetY));
    this.#canvas.addEventListener("pointerleave", () => (this.#tip.hidden = true));
    new ResizeObserver(() => this.#render()).observe(this.#canvas);
  }

  /** @param {MapPoint[]} points */
  show(points) {
    const labels = [...new Set(points.map(nameOf))].sort();
    const across = scale(points.map(({ x }) => x));
    const down = scale(points.map(({ y }) => y));
    this.#dots = points.map((point) => ({
      point,
      x: across(point.x),
      y: down(point.y),
      colour: `oklch(0.65 0.14 ${(labels.indexOf(nameOf(point)) * GOLDEN_ANGLE) % 360})`,
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
      context.arc(...this.#positionOf(dot), DOT_RADIUS, 0, 2 * Math.PI);
      context.fill();
    }
    this.#nameGroups(context);
  }

  /**
   * Write the names of the largest groups in their middle, where they do not cover each other.
   * @param {CanvasRenderingContext2D} context
   */
  #nameGroups(context) {
    /** @type {Map<string, { x: number, y: number }[]>} */
    const groups = new Map();
    for (const dot of this.#dots) {
      const name = nameOf(dot.point);
      if (name) groups.set(name, [...(groups.get(name) ?? []), dot]);
    }
    const style = getComputedStyle(this.#canvas);
    context.globalAlpha = 1;
    context.font = `600 12.5px ${style.fontFamily}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 4;
    context.lineJoin = "round";
    context.strokeStyle = style.backgroundColor;
    context.fillStyle = style.color;
    /** @type {[number, number, number][]} */
    const written = [];
    for (const [name, dots] of [...groups].sort(([, a], [, b]) => b.length - a.length).slice(0, MOST_NAMES)) {
      const [x, y] = this.#positionOf({ x: median(dots.map((dot) => dot.x)), y: median(dots.map((dot) => dot.y)) });
      const half = context.measureText(name).width / 2 + 4;
      const left = Math.min(Math.max(x, half), this.#canvas.clientWidth - half);
      if (written.some(([otherX, otherY, other]) => Math.abs(left - otherX) < half + other && Math.abs(y - otherY) < 16)) continue;
      written.push([left, y, half]);
      context.strokeText(name, left, y);
      context.fillText(name, left, y);
    }
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  #showTip(x, y) {
    const away = (/** @type {{ x: number, y: number }} */ dot) => {
      const [dotX, dotY] = this.#positionOf(dot);
      return Math.hypot(dotX - x, dotY - y);
    };
    const nearest = this.#dots.reduce((best, dot) => (away(dot) < away(best) ? dot : best), this.#dots[0]);
    this.#tip.hidden = !nearest || away(nearest) > HOVER_RADIUS;
    if (this.#tip.hidden) return;
    const [left, top] = this.#positionOf(nearest);
    this.#tip.style.setProperty("--x", `${left}px`);
    this.#tip.style.setProperty("--y", `${top}px`);
    if (this.#tipped !== nearest.point.id) void this.#showTipImage(nearest.point.id);
    this.#tipLabel.textContent = nameOf(nearest.point) ?? "not known";
  }

  /** @param {number} id */
  async #showTipImage(id) {
    this.#tipped = id;
    const address = await backEnd.thumbnail(id).catch(() => "");
    if (this.#tipped === id) this.#tipImage.src = address;
  }

  /**
   * @param {{ x: number, y: number }} dot
   * @returns {[number, number]}
   */
  #positionOf({ x, y }) {
    return [
      MARGIN + x * (this.#canvas.clientWidth - 2 * MARGIN),
      MARGIN + y * (this.#canvas.clientHeight - 2 * MARGIN),
    ];
  }
}

/** @param {MapPoint} point */
function nameOf({ label, guess }) {
  return label ?? guess;
}

/** @param {number[]} values */
function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/**
 * Return a function that maps the lowest value to 0 and the highest to 1.
 * @param {number[]} values
 * @returns {(value: number) => number}
 */
function scale(values) {
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  return (value) => (high > low ? (value - low) / (high - low) : 0.5);
}

/**
 * Render just enough Markdown for a model card: headings, paragraphs, lists, tables, bold and code.
 * Elements are built, never HTML from text, because a card may come from anywhere.
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
