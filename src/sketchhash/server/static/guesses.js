// @ts-check
/** What the page sees in a drawing, and other ways to name a kind of thing: chips, a word, the list of what it knows. */

import { backEnd } from "./backend.js";
import { asCount, byId, make } from "./dom.js";

/** @typedef {import("./api.js").Guess} Guess */

const MOST_CHIPS = 5;
/** Below this chance a guess is a question. */
export const DOUBTFUL = 0.5;

/** The chips. Dispatches a `change` event when a kind of thing is chosen, or let go, and `unknown` for a foreign word. */
export class Guesses extends EventTarget {
  #list = byId("guesses", HTMLElement);
  #field = byId("word", HTMLInputElement);
  /** @type {readonly Guess[]} */
  #guesses = [];
  /** @type {readonly string[]} */
  #meanings = [];
  /** @type {{ by: "category", category: string } | null} */
  #query = null;

  constructor() {
    super();
    byId("word-form", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#lookUp(this.#field.value.trim());
    });
  }

  get query() {
    return this.#query;
  }

  /** Show what a drawing may be. @param {readonly Guess[]} guesses */
  show(guesses) {
    this.#guesses = guesses;
    this.#render();
  }

  /** Search for a kind of thing. @param {string} category */
  choose(category) {
    this.#query = { by: "category", category };
    this.#render();
    this.dispatchEvent(new Event("change"));
  }

  /** Go back to the drawing, without a word. */
  release() {
    this.#query = null;
    this.#meanings = [];
    this.#field.value = "";
    this.#render();
  }

  /** Offer words to complete. @param {readonly string[]} categories */
  offer(categories) {
    byId("known-words", HTMLDataListElement).replaceChildren(...categories.map((value) => make("option", { value })));
  }

  /** @param {string} word */
  async #lookUp(word) {
    if (!word) return;
    const found = await backEnd.categories(word).catch(() => null);
    if (!found || this.#field.value.trim() !== word) return;
    this.#meanings = found.slice(0, MOST_CHIPS).map(({ category }) => category);
    if (this.#meanings.length) this.choose(this.#meanings[0]);
    else this.dispatchEvent(new CustomEvent("unknown", { detail: word }));
  }

  #render() {
    const chosen = this.#query?.category;
    /** @type {Guess[]} */
    const shown = this.#meanings.length ? this.#meanings.map((category) => ({ category, chance: 1 })) : [...this.#guesses];
    if (chosen && !shown.some(({ category }) => category === chosen)) shown.unshift({ category: chosen, chance: 1 });
    this.#list.replaceChildren(...shown.map((guess) => make("li", {}, this.#chip(guess))));
  }

  /** @param {Guess} guess */
  #chip({ category, chance }) {
    const isChosen = category === this.#query?.category;
    const chip = make(
      "button",
      {
        type: "button",
        className: "chip",
        ariaPressed: String(isChosen),
        title: isChosen ? "Back to the drawing" : `Search for: ${category}`,
        onclick: () => (isChosen ? this.#letGo() : this.choose(category)),
      },
      chance < DOUBTFUL ? `${category}?` : category,
    );
    chip.style.setProperty("--chance", String(chance));
    return chip;
  }

  #letGo() {
    this.release();
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * Fill a box with what the model knows: a field that narrows the list, and a chip for each kind of thing.
 * @param {HTMLElement} box
 * @param {readonly string[]} categories
 * @param {(category: string) => void} choose
 */
export function showKnown(box, categories, choose) {
  const chips = [...categories].sort((a, b) => a.localeCompare(b)).map((category) => {
    const chip = make("button", { type: "button", className: "chip", onclick: () => choose(category) }, category);
    return make("li", {}, chip);
  });
  const field = make("input", {
    type: "search",
    placeholder: `Find among ${asCount(categories.length)} kinds of things`,
    ariaLabel: "Find in what I know",
    autocomplete: "off",
  });
  const nothing = make("p", { className: "soft", hidden: true }, "None of them. Draw it all the same: shapes are compared too.");
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    for (const chip of chips) chip.hidden = !chip.textContent?.toLowerCase().includes(wanted);
    nothing.hidden = chips.some((chip) => !chip.hidden);
  });
  box.replaceChildren(field, make("ul", { className: "chips" }, ...chips), nothing);
}
