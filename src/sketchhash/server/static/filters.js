// @ts-check
/** Which photos to search in, and how many hits to show. */

import { asCount, make, part } from "./dom.js";

/** @typedef {import("./api.js").Filters} Filters */

/** Tells of every change with a `change` event. */
export class FilterBar extends EventTarget {
  #folder = part("filter-folder", HTMLSelectElement);
  #label = part("filter-label", HTMLSelectElement);
  #count = part("filter-count", HTMLInputElement);
  #countShown = part("filter-count-shown", HTMLOutputElement);

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

  get isNarrow() {
    return Boolean(this.#folder.value || this.#label.value);
  }

  /** Offer the folders and labels there are. @param {import("./api.js").Gallery} gallery */
  offer(gallery) {
    const labels = Object.entries(gallery.labels).sort(([a], [b]) => a.localeCompare(b));
    fill(this.#folder, gallery.folders.filter(({ path }) => path).map(({ path, photos }) => [path, photos]));
    fill(this.#label, labels);
  }

  widen() {
    this.#folder.value = this.#label.value = "";
    this.#changed();
  }

  #changed() {
    this.#countShown.value = this.#count.value;
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * Offer choices after the first, which is "all"; a select with nothing to choose is hidden.
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
