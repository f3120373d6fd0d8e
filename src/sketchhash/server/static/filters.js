// @ts-check
/** The filters: which photos to search, and how many hits to show. */

import { asCount, byId, make } from "./dom.js";

/** @typedef {import("./api.js").Filters} Filters */

/** Dispatches a `change` event after every change. */
export class FilterBar extends EventTarget {
  #folder = byId("filter-folder", HTMLSelectElement);
  #label = byId("filter-label", HTMLSelectElement);
  #count = byId("filter-count", HTMLInputElement);
  #countShown = byId("filter-count-shown", HTMLOutputElement);

  constructor() {
    super();
    for (const field of [this.#folder, this.#label, this.#count]) {
      field.addEventListener("input", () => this.#changed());
    }
  }

  /** @returns {Filters} */
  get filters() {
    return {
      k: this.#count.valueAsNumber,
      folder: this.#folder.value || null,
      label: this.#label.value || null,
    };
  }

  get isFiltering() {
    return Boolean(this.#folder.value || this.#label.value);
  }

  /** Offer the folders and labels of a gallery. @param {import("./api.js").Gallery} gallery */
  showChoices(gallery) {
    const labels = Object.entries(gallery.labels).sort(([a], [b]) => a.localeCompare(b));
    fill(this.#folder, gallery.folders.filter(({ path }) => path).map(({ path, photos }) => [path, photos]));
    fill(this.#label, labels);
  }

  clear() {
    this.#folder.value = this.#label.value = "";
    this.#changed();
  }

  #changed() {
    this.#countShown.value = this.#count.value;
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * Fill a select with choices after the first, which is "all"; hide it if there are none.
 * @param {HTMLSelectElement} select
 * @param {[name: string, photos: number][]} choices
 */
function fill(select, choices) {
  const options = choices.map(([name, photos]) => make("option", { value: name }, `${name} (${asCount(photos)})`));
  const chosen = select.value;
  select.replaceChildren(select.options[0], ...options);
  select.value = chosen;
  const field = select.closest("label");
  if (field) field.hidden = choices.length === 0;
}
