// @ts-check
/** One hit at full size, with its details, and buttons for the previous and the next one. */

import { fetchDetails, photoAddress, thumbnailAddress } from "./api.js";
import { asDate, asSize, byId, describe } from "./dom.js";
import { percent } from "./hits.js";

/** @typedef {import("./api.js").Hit} Hit */

export class Viewer {
  #dialog = byId("viewer", HTMLDialogElement);
  #picture = byId("viewer-picture", HTMLImageElement);
  #title = byId("viewer-title", HTMLElement);
  #facts = byId("viewer-facts", HTMLElement);
  #previous = byId("viewer-previous", HTMLButtonElement);
  #next = byId("viewer-next", HTMLButtonElement);
  #more = byId("viewer-more", HTMLButtonElement);
  /** @type {readonly Hit[]} */
  #hits = [];
  #index = 0;
  #bits = 0;
  #request = new AbortController();

  /**
   * @param {(hit: Hit) => void} moreLike called to search for photos like this hit
   * @param {(index: number) => void} closed called with the index of the last hit shown
   */
  constructor(moreLike, closed) {
    this.#previous.addEventListener("click", () => this.#show(this.#index - 1));
    this.#next.addEventListener("click", () => this.#show(this.#index + 1));
    this.#more.addEventListener("click", () => this.#dialog.close("more"));
    this.#dialog.addEventListener("keydown", (event) => this.#onKey(event));
    this.#dialog.addEventListener("close", () => {
      this.#request.abort();
      if (this.#dialog.returnValue === "more") moreLike(this.#hits[this.#index]);
      else closed(this.#index);
    });
    this.#picture.addEventListener("load", () => this.#dialog.classList.remove("is-loading"));
    this.#picture.addEventListener("error", () => this.#showMissing());
  }

  /**
   * @param {readonly Hit[]} hits
   * @param {number} index
   * @param {number} bits
   */
  open(hits, index, bits) {
    [this.#hits, this.#bits] = [hits, bits];
    this.#show(index);
    this.#dialog.returnValue = "";
    this.#dialog.showModal();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.key === "ArrowLeft") this.#show(this.#index - 1);
    if (event.key === "ArrowRight") this.#show(this.#index + 1);
    if (event.key === "m") this.#more.click();
  }

  /** @param {number} index */
  #show(index) {
    const hit = this.#hits[index];
    if (!hit) return;
    this.#index = index;
    this.#request.abort();
    this.#request = new AbortController();

    this.#dialog.classList.add("is-loading");
    this.#dialog.classList.remove("is-missing");
    this.#picture.style.setProperty("--thumbnail", `url("${new URL(thumbnailAddress(hit.id), document.baseURI)}")`);
    this.#picture.src = photoAddress(hit.id);
    this.#picture.alt = hit.label ? `${hit.label}: ${hit.name}` : hit.name;
    this.#title.textContent = hit.name;
    this.#previous.disabled = index === 0;
    this.#next.disabled = index === this.#hits.length - 1;
    this.#describe(hit, this.#request.signal);
  }

  /**
   * Show what the hit itself says at once, and the details when they arrive.
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

  #showMissing() {
    this.#dialog.classList.remove("is-loading");
    this.#dialog.classList.add("is-missing");
  }
}
