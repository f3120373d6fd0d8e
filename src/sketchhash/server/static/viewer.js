// @ts-check
/** One hit at full size, with what is known of it, and the way to its neighbours in the grid. */

import { fetchDetails, photoAddress, thumbnailAddress } from "./api.js";
import { asDate, asSize, describe, part } from "./dom.js";
import { percent } from "./hits.js";

/** @typedef {import("./api.js").Hit} Hit */

export class Viewer {
  #dialog = part("viewer", HTMLDialogElement);
  #picture = part("viewer-picture", HTMLImageElement);
  #title = part("viewer-title", HTMLElement);
  #facts = part("viewer-facts", HTMLElement);
  #previous = part("viewer-previous", HTMLButtonElement);
  #next = part("viewer-next", HTMLButtonElement);
  #more = part("viewer-more", HTMLButtonElement);
  /** @type {readonly Hit[]} */
  #hits = [];
  #place = 0;
  #bits = 0;
  #asking = new AbortController();

  /**
   * @param {(hit: Hit) => void} moreLike
   * @param {(place: number) => void} closed
   */
  constructor(moreLike, closed) {
    this.#previous.addEventListener("click", () => this.#show(this.#place - 1));
    this.#next.addEventListener("click", () => this.#show(this.#place + 1));
    this.#more.addEventListener("click", () => this.#dialog.close("more"));
    this.#dialog.addEventListener("keydown", (event) => this.#walk(event));
    this.#dialog.addEventListener("close", () => {
      this.#asking.abort();
      if (this.#dialog.returnValue === "more") moreLike(this.#hits[this.#place]);
      else closed(this.#place);
    });
    this.#picture.addEventListener("load", () => this.#dialog.classList.remove("is-loading"));
    this.#picture.addEventListener("error", () => this.#pictureIsMissing());
  }

  /**
   * @param {readonly Hit[]} hits
   * @param {number} place
   * @param {number} bits
   */
  open(hits, place, bits) {
    [this.#hits, this.#bits] = [hits, bits];
    this.#show(place);
    this.#dialog.returnValue = "";
    this.#dialog.showModal();
  }

  /** @param {KeyboardEvent} event */
  #walk(event) {
    if (event.key === "ArrowLeft") this.#show(this.#place - 1);
    if (event.key === "ArrowRight") this.#show(this.#place + 1);
    if (event.key === "m") this.#more.click();
  }

  /** @param {number} place */
  #show(place) {
    const hit = this.#hits[place];
    if (!hit) return;
    this.#place = place;
    this.#asking.abort();
    this.#asking = new AbortController();

    this.#dialog.classList.add("is-loading");
    this.#dialog.classList.remove("is-missing");
    this.#picture.style.setProperty("--thumbnail", `url("${new URL(thumbnailAddress(hit.id), document.baseURI)}")`);
    this.#picture.src = photoAddress(hit.id);
    this.#picture.alt = hit.label ? `${hit.label}: ${hit.name}` : hit.name;
    this.#title.textContent = hit.name;
    this.#previous.disabled = place === 0;
    this.#next.disabled = place === this.#hits.length - 1;
    this.#describe(hit, this.#asking.signal);
  }

  /**
   * Show what the hit itself says at once, and the rest when it comes.
   * @param {Hit} hit
   * @param {AbortSignal} signal
   */
  async #describe(hit, signal) {
    /** @type {[string, string][]} */
    const known = [
      ["Similarity", `${percent(hit.similarity)} (${hit.distance} of ${this.#bits} bits differ)`],
      ["Label", hit.label ?? "none"],
    ];
    describe(this.#facts, [...known, ["Folder", hit.folder || "top folder"]]);
    const details = await fetchDetails(hit.id, signal).catch(() => null);
    if (!details || signal.aborted) return;
    describe(this.#facts, [
      ...known,
      ["Path", details.path],
      ["Size", details.width ? `${details.width} × ${details.height}, ${asSize(details.size)}` : asSize(details.size)],
      ["Indexed", asDate(details.indexed_at)],
    ]);
  }

  #pictureIsMissing() {
    this.#dialog.classList.remove("is-loading");
    this.#dialog.classList.add("is-missing");
  }
}
