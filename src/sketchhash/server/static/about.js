// @ts-check
/** About this gallery: what it holds, which model reads it, and where the time of the last search went. */

import { fetchGallery, fetchMap } from "./api.js";
import { describe, make, part } from "./dom.js";
import { CodeMap } from "./map.js";
import { renderMarkdown } from "./markdown.js";
import { asCount, asDate, asDuration, asSize } from "./words.js";

/** @typedef {import("./api.js").Gallery} Gallery */
/** @typedef {import("./api.js").Timings} Timings */

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
