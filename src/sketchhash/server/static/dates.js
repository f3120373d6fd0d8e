// @ts-check
/** When and where: the months that photos were taken in, a place to be near, and the order of hits. */

import { byId, make } from "./dom.js";

/** @typedef {import("./api.js").Gallery} Gallery */
/** @typedef {import("./api.js").Hit} Hit */
/** @typedef {{ latitude: number, longitude: number }} Place */

const MONTHS_A_YEAR = 12;
const NEAR_KM = 20;

/** Dispatches a `change` event when other photos are asked for, and an `order` event when the same ones are. */
export class WhenAndWhere extends EventTarget {
  #row = byId("when", HTMLFormElement);
  #range = byId("when-range", HTMLElement);
  #first = byId("when-first", HTMLInputElement);
  #last = byId("when-last", HTMLInputElement);
  #shown = byId("when-shown", HTMLOutputElement);
  #order = byId("when-order", HTMLSelectElement);
  #near = byId("when-near", HTMLButtonElement);
  /** @type {Place | null} */
  #place = null;

  constructor() {
    super();
    this.#first.addEventListener("input", () => this.#move(this.#first, this.#last, Math.max));
    this.#last.addEventListener("input", () => this.#move(this.#last, this.#first, Math.min));
    for (const field of [this.#first, this.#last]) {
      field.addEventListener("change", () => this.dispatchEvent(new Event("change")));
    }
    this.#order.addEventListener("input", () => this.dispatchEvent(new Event("order")));
    this.#near.addEventListener("click", () => this.goNear(null));
    this.#row.addEventListener("submit", (event) => event.preventDefault());
  }

  /** What the service is asked for; the whole range is none, so that photos without a date pass. */
  get filters() {
    return {
      after: this.#first.value === this.#first.min ? null : written(this.#first.valueAsNumber),
      before: this.#last.value === this.#last.max ? null : written(this.#last.valueAsNumber),
      near: this.#place && `${this.#place.latitude},${this.#place.longitude},${NEAR_KM}km`,
    };
  }

  get isFiltering() {
    return Object.values(this.filters).some((value) => value !== null);
  }

  /** Offer the months of a gallery. @param {Gallery} gallery */
  showChoices(gallery) {
    const [first, last] = [gallery.first_taken, gallery.last_taken].map((time) => (time ? monthOf(time) : 0));
    for (const field of [this.#first, this.#last]) [field.min, field.max] = [String(first), String(last)];
    [this.#first.value, this.#last.value] = [String(first), String(last)];
    this.#range.hidden = first === last;
    this.#row.hidden = gallery.dated === 0 && gallery.placed === 0;
    this.#order.hidden = gallery.dated === 0;
    this.#describe();
  }

  clear() {
    [this.#first.value, this.#last.value] = [this.#first.min, this.#last.max];
    this.#place = null;
    this.#describe();
  }

  /** Search near a place, or anywhere. @param {Place | null} place */
  goNear(place) {
    this.#place = place;
    this.#describe();
    this.dispatchEvent(new Event("change"));
  }

  /** Return hits in the order that was chosen; those without a date come last. @param {readonly Hit[]} hits */
  inOrder(hits) {
    if (!this.isByDate) return hits;
    const sign = this.#order.value === "newest" ? -1 : 1;
    const dated = hits.filter((hit) => hit.taken_at);
    dated.sort((a, b) => sign * (a.taken_at ?? "").localeCompare(b.taken_at ?? ""));
    return [...dated, ...hits.filter((hit) => !hit.taken_at)];
  }

  get isByDate() {
    return this.#order.value !== "best";
  }

  /**
   * Keep the two ends in order: the one that moves pushes the other.
   * @param {HTMLInputElement} moved
   * @param {HTMLInputElement} other
   * @param {(a: number, b: number) => number} farther
   */
  #move(moved, other, farther) {
    other.value = String(farther(moved.valueAsNumber, other.valueAsNumber));
    this.#describe();
  }

  #describe() {
    const [first, last] = [this.#first, this.#last].map((field) => shownMonth(field.valueAsNumber));
    const isAll = this.#first.value === this.#first.min && this.#last.value === this.#last.max;
    this.#shown.value = isAll ? "any time" : first === last ? first : `${first} – ${last}`;
    const span = Number(this.#first.max) - Number(this.#first.min) || 1;
    const share = (/** @type {HTMLInputElement} */ field) => (field.valueAsNumber - Number(field.min)) / span;
    this.#range.style.setProperty("--from", String(share(this.#first)));
    this.#range.style.setProperty("--to", String(share(this.#last)));
    this.#first.ariaValueText = `from ${first}`;
    this.#last.ariaValueText = `to ${last}`;
    this.#near.hidden = !this.#place;
    if (this.#place) {
      const place = asPlace(this.#place);
      this.#near.replaceChildren(`Within ${NEAR_KM} km of ${place} `, make("span", { ariaHidden: "true" }, "×"));
      this.#near.ariaLabel = `Within ${NEAR_KM} km of ${place}: search anywhere again`;
    }
  }
}

/** Write a place as people read it. @param {Place} place */
export function asPlace({ latitude, longitude }) {
  return `${latitude.toFixed(3)}, ${longitude.toFixed(3)}`;
}

/** Count months from the year 0. @param {string} time as a camera's clock showed it, ISO 8601 without a zone */
function monthOf(time) {
  return Number(time.slice(0, 4)) * MONTHS_A_YEAR + Number(time.slice(5, 7)) - 1;
}

/** @param {number} month */
function written(month) {
  const number = String((month % MONTHS_A_YEAR) + 1).padStart(2, "0");
  return `${String(Math.floor(month / MONTHS_A_YEAR)).padStart(4, "0")}-${number}`;
}

/** @param {number} month */
function shownMonth(month) {
  const date = new Date(Math.floor(month / MONTHS_A_YEAR), month % MONTHS_A_YEAR);
  return date.toLocaleDateString("en-GB", { month: "short", year: "numeric" });
}
