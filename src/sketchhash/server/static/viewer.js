// @ts-check
/** One hit at full size, with its details, and buttons for the previous and the next one. */

import { ServiceError } from "./api.js";
import { openDialog } from "./back.js";
import { backEnd } from "./backend.js";
import { asPlace } from "./dates.js";
import { asDate, asSize, byId, describe } from "./dom.js";

/** @typedef {import("./api.js").Hit} Hit */
/** @typedef {import("./api.js").Details} Details */

const COPIED_MS = 1500;

export class Viewer {
  #dialog = byId("viewer", HTMLDialogElement);
  #picture = byId("viewer-picture", HTMLImageElement);
  #problem = byId("viewer-problem", HTMLElement);
  #again = byId("viewer-again", HTMLButtonElement);
  #title = byId("viewer-title", HTMLElement);
  #facts = byId("viewer-facts", HTMLElement);
  #previous = byId("viewer-previous", HTMLButtonElement);
  #next = byId("viewer-next", HTMLButtonElement);
  #more = byId("viewer-more", HTMLButtonElement);
  #copy = byId("viewer-copy", HTMLButtonElement);
  #copyName = byId("viewer-copy-name", HTMLButtonElement);
  #copySvg = byId("viewer-copy-svg", HTMLButtonElement);
  #near = byId("viewer-near", HTMLButtonElement);
  #original = byId("viewer-original", HTMLAnchorElement);
  /** @type {readonly Hit[]} */
  #hits = [];
  #index = 0;
  #bits = 0;
  #path = "";
  #svg = "";
  /** @type {import("./dates.js").Place | null} */
  #place = null;
  #request = new AbortController();
  /** Whether the service answers; settled with the details of the hit. @type {Promise<boolean>} */
  #isReached = Promise.resolve(true);

  /**
   * @param {(hit: Hit) => void} moreLike called to search for photos like this hit
   * @param {(place: import("./dates.js").Place) => void} goNear called to search near the place of this hit
   * @param {(index: number) => void} closed called with the index of the last hit shown
   */
  constructor(moreLike, goNear, closed) {
    this.#previous.addEventListener("click", () => this.#show(this.#index - 1));
    this.#next.addEventListener("click", () => this.#show(this.#index + 1));
    this.#again.addEventListener("click", () => this.#show(this.#index));
    this.#more.addEventListener("click", () => this.#dialog.close("more"));
    this.#near.addEventListener("click", () => this.#dialog.close("near"));
    this.#copy.addEventListener("click", () => copyFrom(this.#copy, this.#path));
    this.#copyName.addEventListener("click", () => copyFrom(this.#copyName, nameOf(this.#hits[this.#index])));
    this.#copySvg.addEventListener("click", () => copyFrom(this.#copySvg, this.#svg));
    this.#dialog.addEventListener("keydown", (event) => this.#onKey(event));
    this.#dialog.addEventListener("close", () => {
      this.#request.abort();
      if (this.#dialog.returnValue === "more") moreLike(this.#hits[this.#index]);
      else if (this.#dialog.returnValue === "near" && this.#place) goNear(this.#place);
      else closed(this.#index);
    });
    this.#picture.addEventListener("load", () => this.#dialog.classList.remove("is-loading"));
    this.#picture.addEventListener("error", () => this.#showMissing(this.#request.signal));
    addEventListener("online", () => {
      if (this.#dialog.classList.contains("is-missing")) this.#show(this.#index);
    });
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
    openDialog(this.#dialog);
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
    this.#isReached = this.#describe(hit, this.#request.signal);
    void this.#showPicture(hit, this.#request.signal);
    void this.#offerSvg(hit, this.#request.signal);
    this.#picture.alt = hit.label ? `${hit.label}: ${hit.name}` : hit.name;
    this.#title.textContent = hit.name;
    this.#previous.disabled = index === 0;
    this.#next.disabled = index === this.#hits.length - 1;
  }

  /**
   * Show the thumbnail until the photo itself is there; a site without originals shows the thumbnail alone.
   * @param {Hit} hit
   * @param {AbortSignal} signal
   */
  async #showPicture(hit, signal) {
    const original = backEnd.original(hit);
    this.#original.hidden = original === null;
    if (original !== null) this.#picture.src = this.#original.href = original;
    else this.#picture.removeAttribute("src");
    const thumbnail = await backEnd.thumbnail(hit.id).catch(() => null);
    if (signal.aborted) return;
    if (original === null) this.#picture.src = thumbnail ?? "";
    this.#picture.style.setProperty("--thumbnail", thumbnail ? `url("${new URL(thumbnail, document.baseURI)}")` : "none");
  }

  /**
   * Show what the hit itself says at once, and the details when they arrive; return whether the service answers.
   * @param {Hit} hit
   * @param {AbortSignal} signal
   */
  async #describe(hit, signal) {
    /** @type {[string, string][]} */
    const known = [
      ...(hit.taken_at ? [/** @type {[string, string]} */ (["Taken", asDate(hit.taken_at)])] : []),
      ...(hit.label ? [/** @type {[string, string]} */ (["Label", hit.label])] : []),
      ["Folder", hit.folder || "top folder"],
      ["Distance", `${hit.distance} of ${this.#bits} bits differ`],
    ];
    this.#path = "";
    this.#place = null;
    this.#near.hidden = true;
    this.#copy.disabled = true;
    describe(this.#facts, known);
    try {
      const details = await backEnd.details(hit.id, signal);
      if (signal.aborted) return true;
      this.#path = details.path;
      this.#copy.disabled = false;
      this.#place = placeOf(details);
      this.#near.hidden = !this.#place;
      const others = known.filter(([term]) => term !== "Taken");
      const more = [...moreOf(details), ["Size", sizeOf(details)], ["Path", details.path]];
      describe(this.#facts, /** @type {[string, string][]} */ ([dateOf(details), ...others, ...more]));
      return true;
    } catch (error) {
      const isAway = error instanceof ServiceError && error.isTemporary;
      if (isAway && !signal.aborted) describe(this.#facts, [...known, ["More", "The server is away."]]);
      return !isAway;
    }
  }

  /**
   * Offer the name of a drawing to copy, and its SVG if it has one.
   * @param {Hit} hit
   * @param {AbortSignal} signal
   */
  async #offerSvg(hit, signal) {
    this.#copy.hidden = hit.kind === "drawing";
    this.#copyName.hidden = hit.kind !== "drawing";
    this.#copySvg.hidden = true;
    if (hit.kind !== "drawing" || !backEnd.svg) return;
    const answer = await backEnd.svg(hit.id, signal).catch(() => null);
    if (signal.aborted || !answer) return;
    this.#svg = answer.svg;
    this.#copySvg.hidden = false;
  }

  /** @param {AbortSignal} signal */
  async #showMissing(signal) {
    const hit = this.#hits[this.#index];
    const isReached = await this.#isReached;
    if (signal.aborted) return;
    this.#problem.textContent = isReached
      ? `This ${hit.kind} cannot be shown. It may have been moved or deleted since it was indexed.`
      : `The server is away, so this ${hit.kind} cannot be shown. What you have drawn is kept.`;
    this.#again.hidden = isReached;
    this.#dialog.classList.remove("is-loading");
    this.#dialog.classList.add("is-missing");
  }
}

/** Copy a text and say so on the button. @param {HTMLButtonElement} button @param {string} text */
async function copyFrom(button, text) {
  button.classList.toggle("is-done", await copyText(text));
  setTimeout(() => button.classList.remove("is-done"), COPIED_MS);
}

/** Return what people call an icon: its file's name without the ending. @param {Hit} hit */
function nameOf(hit) {
  return hit.name.replace(/\.\w{2,5}$/, "");
}

/** @param {Details} details @returns {[string, string]} */
function dateOf(details) {
  return details.taken_at ? ["Taken", asDate(details.taken_at)] : ["Changed", asDate(details.modified_at)];
}

/** @param {Details} details @returns {import("./dates.js").Place | null} */
function placeOf({ latitude, longitude }) {
  return latitude === null || longitude === null ? null : { latitude, longitude };
}

/** Return camera, place and description, as far as they are known. @param {Details} details */
function moreOf(details) {
  const place = placeOf(details);
  const facts = [["Camera", details.camera], ["Place", place && asPlace(place)], ["Description", details.description]];
  return facts.filter(([, fact]) => fact);
}

/** @param {Details} details */
function sizeOf(details) {
  return details.width ? `${details.width} × ${details.height}, ${asSize(details.size)}` : asSize(details.size);
}

/** Copy text; browsers lend the clipboard only to pages from this machine or over TLS. @param {string} text */
async function copyText(text) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const field = Object.assign(document.createElement("textarea"), { value: text });
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  return isCopied;
}
