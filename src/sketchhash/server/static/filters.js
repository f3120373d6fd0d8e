// @ts-check
/** The filters: which photos to search, and how many hits to show. */

import { backEnd } from "./backend.js";
import { WhenAndWhere } from "./dates.js";
import { asCount, byId, counted, countedKinds, kindsOf, make } from "./dom.js";

/** @typedef {import("./api.js").Filters} Filters */
/** @typedef {import("./api.js").Folder} Folder */

/** Dispatches a `change` event after every change, and an `order` event when only the order of hits is another. */
export class FilterBar extends EventTarget {
  #folder = byId("filter-folder", HTMLSelectElement);
  #label = byId("filter-label", HTMLSelectElement);
  #count = byId("filter-count", HTMLInputElement);
  #countShown = byId("filter-count-shown", HTMLOutputElement);
  #when = new WhenAndWhere();

  /** @type {Map<string, Folder[]>} what lies directly in each folder that was opened; "" is the top */
  #folders = new Map();
  /** @type {Record<string, number>} */
  #labels = {};
  /** @type {Pick<import("./api.js").Gallery, "photos" | "drawings">} */
  #holds = { photos: 0, drawings: 0 };

  constructor() {
    super();
    for (const field of [this.#label, this.#count]) field.addEventListener("input", () => this.#changed());
    this.#when.addEventListener("change", () => this.#changed());
    this.#when.addEventListener("order", () => this.dispatchEvent(new Event("order")));
    this.#folder.addEventListener("input", () => {
      void this.#openFolder(this.#folder.value);
      this.#changed();
    });
  }

  /** @returns {Filters} */
  get filters() {
    return {
      k: this.#count.valueAsNumber,
      folder: this.#folder.value || null,
      label: this.#label.value || null,
      ...this.#when.filters,
    };
  }

  get isFiltering() {
    return Boolean(this.#folder.value || this.#label.value) || this.#when.isFiltering;
  }

  /** Say what the gallery holds. */
  get kinds() {
    return kindsOf(this.#holds.photos, this.#holds.drawings);
  }

  /** Say what a search is compared with. */
  get compared() {
    const [folder, label] = [this.#folder.value, this.#label.value];
    if (this.#when.isFiltering) return `the ${this.kinds} of that time or place`;
    if (folder && label) return `the ${this.kinds} of ${label} in ${folder}`;
    if (folder) return `${this.#counted(this.#photosIn(folder))} in ${folder}`;
    if (label) return `${this.#counted(this.#labels[label] ?? 0)} of ${label}`;
    return countedKinds(this.#holds);
  }

  /** Offer the folders and labels of a gallery. @param {import("./api.js").Gallery} gallery */
  showChoices(gallery) {
    this.#holds = gallery;
    this.#labels = gallery.labels;
    this.#folders = new Map([["", gallery.folders.filter(({ path }) => path)]]);
    this.#showFolders();
    this.#when.showChoices(gallery);
    // The names of icons are labels, too, but no groups to choose from.
    const groups = Object.entries(gallery.labels).filter(([, count]) => !gallery.drawings || count > 1);
    const labels = groups.sort(([a], [b]) => a.localeCompare(b));
    fill(this.#label, labels.map(([name, photos]) => [name, `${name} (${asCount(photos)})`]));
  }

  /** Search near a place. @param {import("./dates.js").Place} place */
  goNear(place) {
    this.#when.goNear(place);
  }

  /** Return hits in the order that was chosen. @param {readonly import("./api.js").Hit[]} hits */
  inOrder(hits) {
    return this.#when.inOrder(hits);
  }

  get isByDate() {
    return this.#when.isByDate;
  }

  clear() {
    this.#folder.value = this.#label.value = "";
    this.#when.clear();
    this.#changed();
  }

  /** Offer what lies in a folder, below it. @param {string} folder */
  async #openFolder(folder) {
    if (!folder || this.#folders.has(folder)) return;
    const found = await backEnd.folders(folder).catch(() => null);
    if (!found) return;
    this.#folders.set(folder, found);
    this.#showFolders();
  }

  #showFolders() {
    /** @type {(folders: Folder[], depth: number) => [string, string][]} */
    const rows = (folders, depth) =>
      folders.flatMap(({ path, photos }) => [
        /** @type {[string, string]} */ ([path, `${"\u2003".repeat(depth)}${path.split("/").at(-1)} (${asCount(photos)})`]),
        ...rows(this.#folders.get(path) ?? [], depth + 1),
      ]);
    fill(this.#folder, rows(this.#folders.get("") ?? [], 0));
  }

  /** @param {string} folder */
  #photosIn(folder) {
    return [...this.#folders.values()].flat().find(({ path }) => path === folder)?.photos ?? 0;
  }

  /** Count some pictures; which of them are drawings is known only if all are. @param {number} count */
  #counted(count) {
    return this.kinds.includes(" ") ? `${asCount(count)} ${this.kinds}` : counted(count, this.kinds.slice(0, -1));
  }

  #changed() {
    this.#countShown.value = this.#count.value;
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * Fill a select with choices after the first, which is "all"; hide it if there are none.
 * @param {HTMLSelectElement} select
 * @param {[value: string, text: string][]} choices
 */
function fill(select, choices) {
  const chosen = select.value;
  select.replaceChildren(select.options[0], ...choices.map(([value, text]) => make("option", { value }, text)));
  select.value = chosen;
  const field = select.closest("label");
  if (field) field.hidden = choices.length === 0;
}
