// @ts-check
/** The grid of hits. */

import { thumbnailAddress } from "./api.js";
import { make } from "./dom.js";

/** @typedef {import("./api.js").Hit} Hit */

/**
 * Format a similarity as a whole percentage, rounded down: only what is certain is 100 %.
 * @param {number} similarity
 */
export function percent(similarity) {
  return `${Math.floor(similarity * 100)}%`;
}

export class HitGrid {
  /** @type {HTMLElement} */
  #list;
  /** @type {Map<number, HitCard>} */
  #cards = new Map();
  /** @type {(index: number) => void} */
  #open;
  /** @type {readonly Hit[]} */
  hits = [];

  /**
   * @param {HTMLElement} list
   * @param {(index: number) => void} open called with the index of the hit that is chosen
   */
  constructor(list, open) {
    this.#list = list;
    this.#open = open;
    list.addEventListener("keydown", (event) => this.#moveFocus(event));
  }

  /**
   * Show hits, best first. Cards are kept from one answer to the next, so that thumbnails neither flicker nor
   * load twice, and the focus stays where it is.
   * @param {readonly Hit[]} hits
   */
  show(hits) {
    const focused = document.activeElement;
    const hadFocus = this.#list.contains(focused);
    this.hits = hits;
    this.#cards = new Map(hits.map((hit) => [hit.id, this.#cards.get(hit.id) ?? new HitCard(hit.id)]));
    hits.forEach((hit, index) => {
      const card = this.#cards.get(hit.id);
      card?.describe(hit);
      if (card) card.button.onclick = () => this.#open(index);
    });
    this.#list.replaceChildren(...[...this.#cards.values()].map((card) => card.item));
    if (!hadFocus) return;
    if (focused instanceof HTMLElement && focused.isConnected) focused.focus({ preventScroll: true });
    else this.focus(0);
  }

  /** @param {number} index */
  focus(index) {
    const hit = this.hits[index];
    if (hit) this.#cards.get(hit.id)?.button.focus();
  }

  /** @param {KeyboardEvent} event */
  #moveFocus(event) {
    const buttons = [...this.#cards.values()].map((card) => card.button);
    const index = buttons.findIndex((button) => button === document.activeElement);
    const nextRow = buttons.findIndex((button) => button.offsetTop > buttons[0].offsetTop);
    const columns = nextRow === -1 ? buttons.length : nextRow;
    /** @type {Record<string, number>} */
    const targets = {
      ArrowLeft: index - 1,
      ArrowRight: index + 1,
      ArrowUp: index - columns,
      ArrowDown: index + columns,
      Home: 0,
      End: buttons.length - 1,
    };
    const target = buttons[targets[event.key]];
    if (!target) return;
    event.preventDefault();
    target.focus();
  }
}

class HitCard {
  /** @param {number} id */
  constructor(id) {
    this.image = make("img", { src: thumbnailAddress(id), loading: "lazy", decoding: "async", alt: "" });
    this.image.addEventListener("error", () => this.button.classList.add("is-broken"));
    this.name = make("span", { className: "hit-name" });
    this.similarity = make("span", { className: "hit-similarity" });
    this.meter = make("span", { className: "hit-meter", ariaHidden: "true" });
    this.button = make(
      "button",
      { type: "button", className: "hit" },
      make("span", { className: "hit-picture" }, this.image),
      make("span", { className: "hit-caption" }, this.name, this.similarity),
      this.meter,
    );
    this.item = make("li", {}, this.button);
  }

  /** @param {Hit} hit */
  describe(hit) {
    this.name.textContent = hit.label ?? hit.name;
    this.similarity.textContent = percent(hit.similarity);
    this.meter.style.setProperty("--share", String(hit.similarity));
    this.button.title = [hit.folder, hit.name].filter(Boolean).join("/");
    this.button.ariaLabel = `${hit.label ?? hit.name}, ${percent(hit.similarity)} similar`;
  }
}
