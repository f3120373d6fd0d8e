// @ts-check
/** The grid of hits: the good matches, a divider, and what is less likely. Copies of a photo are behind its card. */

import { backEnd } from "./backend.js";
import { asDate, make } from "./dom.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./api.js").Filters} Filters */
/** @typedef {import("./api.js").Hit} Hit */

// Thumbnails are fetched when they come into the window and, of hits that have stayed for a while, this near to it.
const AHEAD = "200px";
const STAYED_MS = 800;

// As many as the service finds at once.
const MOST_HITS = 500;

/**
 * Search for as many photos as are asked for beside their copies, which would take the places of others.
 * @param {(filters: Filters) => Promise<Answer>} search
 * @param {Filters} filters
 */
export async function searchApart(search, filters) {
  let { k } = filters;
  let answer = await search(filters);
  while (answer.hits.length === k && k < MOST_HITS && firstsOf(answer.hits).length < filters.k) {
    k = Math.min(2 * k, MOST_HITS);
    answer = await search({ ...filters, k });
  }
  const shown = new Set(firstsOf(answer.hits).slice(0, filters.k).map((hit) => hit.id));
  return { ...answer, hits: answer.hits.filter((hit) => shown.has(hit.id) || shown.has(hit.copy_of ?? 0)) };
}

/** Return the hits that are no copies of others among them. @param {readonly Hit[]} hits */
function firstsOf(hits) {
  const ids = new Set(hits.map((hit) => hit.id));
  return hits.filter((hit) => !hit.copy_of || !ids.has(hit.copy_of));
}

export class HitGrid {
  /** @type {HTMLElement} */
  #list;
  /** @type {Map<number, HitCard>} */
  #cards = new Map();
  /** @type {(index: number) => void} */
  #open;
  /** @type {IntersectionObserver | undefined} */
  #approaching;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #staying;
  #divider = make("li", { className: "divider" }, "Less likely");
  /** The hits that are shown. @type {readonly Hit[]} */
  hits = [];
  /** All hits of the last answer. @type {readonly Hit[]} */
  #all = [];
  #isByDate = false;
  /** The photos whose copies are shown, by id. @type {Set<number>} */
  #unfolded = new Set();
  /** Copies of photos that were not among the hits. @type {Map<number, Hit[]>} */
  #fetched = new Map();

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
   * @param {boolean} isByDate whether they are in another order, and good matches anywhere among them
   */
  show(hits, isByDate = false) {
    this.#all = hits;
    this.#isByDate = isByDate;
    this.#unfolded.clear();
    this.#fetched.clear();
    this.#lay();
  }

  #lay() {
    const groups = firstsOf(this.#all).map((hit) => ({ first: hit, copies: this.#copiesOf(hit.id) }));
    const hits = groups.flatMap(({ first, copies }) => (this.#unfolded.has(first.id) ? [first, ...copies] : [first]));
    const focused = document.activeElement;
    const hadFocus = this.#list.contains(focused);
    this.hits = hits;
    this.#cards = new Map(hits.map((hit) => [hit.id, this.#cards.get(hit.id) ?? new HitCard(hit.id)]));
    const cards = [...this.#cards.values()];
    cards.forEach((card, index) => {
      const { id, copies } = hits[index];
      card.describe(hits[index], Math.max(copies ?? 0, this.#copiesOf(id).length), this.#unfolded.has(id));
      card.button.onclick = () => this.#open(index);
      card.copies.onclick = () => void this.#fold(id);
    });
    const items = cards.map((card) => card.item);
    const less = groups.find(({ first }) => !first.likely)?.first;
    const likely = less ? hits.indexOf(less) : 0;
    if (!this.#isByDate && 0 < likely) items.splice(likely, 0, this.#divider);
    this.#list.replaceChildren(...items);
    clearTimeout(this.#staying);
    this.#watch("0px");
    this.#staying = setTimeout(() => this.#watch(AHEAD), STAYED_MS);
    if (!hadFocus) return;
    if (focused instanceof HTMLElement && focused.isConnected) focused.focus({ preventScroll: true });
    else this.focus(0);
  }

  /** Show the copies of a photo, or hide them again. @param {number} id */
  async #fold(id) {
    const isUnfolded = !this.#unfolded.delete(id);
    if (isUnfolded) this.#unfolded.add(id);
    this.#lay();
    const copies = this.hits.find((hit) => hit.id === id)?.copies ?? 0;
    if (!isUnfolded || this.#fetched.has(id) || copies <= this.#copiesOf(id).length) return;
    const all = this.#all;
    const fetched = await backEnd.copies(id).catch(() => null); // those that were found are shown anyway
    if (all !== this.#all || !fetched) return;
    this.#fetched.set(id, fetched);
    this.#lay();
  }

  /** Return the copies of a photo as far as they are known: among the hits, and then those that were fetched. @param {number} id */
  #copiesOf(id) {
    const found = this.#all.filter((hit) => hit.copy_of === id);
    const known = new Set(this.#all.map((hit) => hit.id));
    return [...found, ...(this.#fetched.get(id) ?? []).filter((hit) => !known.has(hit.id))];
  }

  /** @param {number} index */
  focus(index) {
    const hit = this.hits[index];
    if (hit) this.#cards.get(hit.id)?.button.focus();
  }

  /** Fetch thumbnails that come so near to the window. @param {string} margin */
  #watch(margin) {
    this.#approaching?.disconnect();
    const approaching = new IntersectionObserver((entries) => this.#loadNear(entries), { rootMargin: margin });
    for (const card of this.#cards.values()) if (!card.isLoaded) approaching.observe(card.item);
    this.#approaching = approaching;
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #loadNear(entries) {
    const near = new Set(entries.filter((entry) => entry.isIntersecting).map((entry) => entry.target));
    for (const card of this.#cards.values()) {
      if (!near.has(card.item)) continue;
      void card.load();
      this.#approaching?.unobserve(card.item);
    }
  }

  /** @param {KeyboardEvent} event */
  #moveFocus(event) {
    const buttons = [...this.#cards.values()].map((card) => card.button);
    const index = buttons.findIndex((button) => button === document.activeElement);
    if (index === -1) return;
    /** @type {Record<string, () => HTMLElement | undefined>} */
    const targets = {
      ArrowLeft: () => buttons[index - 1],
      ArrowRight: () => buttons[index + 1],
      ArrowUp: () => nearestInRow(buttons.slice(0, index).reverse(), buttons[index]),
      ArrowDown: () => nearestInRow(buttons.slice(index + 1), buttons[index]),
      Home: () => buttons[0],
      End: () => buttons.at(-1),
    };
    const target = targets[event.key]?.();
    if (!target) return;
    event.preventDefault();
    target.focus();
  }
}

/**
 * Return the button of the next row that is nearest to another in its column; rows are not equally full.
 * @param {HTMLElement[]} buttons from the row of `from` on, away from it
 * @param {HTMLElement} from
 */
function nearestInRow(buttons, from) {
  const row = buttons.find((button) => button.offsetTop !== from.offsetTop)?.offsetTop;
  const away = (/** @type {HTMLElement} */ button) => Math.abs(button.offsetLeft - from.offsetLeft);
  return buttons.filter((button) => button.offsetTop === row).sort((a, b) => away(a) - away(b))[0];
}

class HitCard {
  isLoaded = false;
  #id;

  /** @param {number} id */
  constructor(id) {
    this.#id = id;
    this.image = make("img", { decoding: "async", alt: "" });
    this.image.addEventListener("error", () => this.button.classList.add("is-broken"));
    this.name = make("span", { className: "hit-name" });
    this.button = make(
      "button",
      { type: "button", className: "hit" },
      make("span", { className: "hit-picture" }, this.image),
      this.name,
    );
    this.copies = make("button", { type: "button", className: "hit-copies" });
    this.item = make("li", {}, this.button);
  }

  async load() {
    this.isLoaded = true;
    try {
      this.image.src = await backEnd.thumbnail(this.#id);
    } catch {
      this.button.classList.add("is-broken");
    }
  }

  /**
   * @param {Hit} hit
   * @param {number} copies how many copies of it the gallery has
   * @param {boolean} isUnfolded whether they are shown
   */
  describe(hit, copies, isUnfolded) {
    const counted = copies === 1 ? "1 copy" : `${copies} copies`;
    if (copies) this.item.append(this.copies);
    else this.copies.remove();
    this.copies.textContent = isUnfolded ? "Hide" : `+ ${counted}`;
    this.copies.title = isUnfolded ? `Hide ${counted}` : `Show ${counted} of this photo`;
    this.copies.ariaExpanded = String(isUnfolded);
    this.item.classList.toggle("is-copy", Boolean(hit.copy_of));
    this.item.classList.toggle("is-drawing", hit.kind === "drawing");
    const name = (hit.kind === "drawing" && hit.label) || tellingName(hit.name) || hit.label || "";
    this.name.textContent = name;
    this.name.hidden = !name;
    const path = [hit.folder, hit.name].filter(Boolean).join("/");
    this.button.title = hit.taken_at ? `${path}\n${asDate(hit.taken_at)}` : path;
    const called = hit.kind === "drawing" ? `${name || hit.name}, drawing` : name || hit.name;
    this.button.ariaLabel = hit.likely ? `${called}, good match` : called;
  }
}

// Words that cameras, phones and programs begin names with.
const SAYS_NOTHING = new Set(
  "img image images dsc dscn dscf pict pic photo foto picture pxl mvimg burst pano dji gopr gopro whatsapp signal screenshot screen shot scan scanned untitled unnamed download copy edited file jpg jpeg png".split(" "),
);

/**
 * Return what a file's name says about its photo; nothing if it only counts, as names from cameras do.
 * @param {string} name
 */
export function tellingName(name) {
  const stem = name.replace(/\.\w{2,5}$/, "");
  const words = stem.split(/[\s_.,()+\-\d]+/).filter(Boolean);
  const isTelling = (/** @type {string} */ word) =>
    word.length > 2 && /[aeiouyäöü]|[^\x00-\x7f]/i.test(word) && !/^[a-f]+$/i.test(word) && !SAYS_NOTHING.has(word.toLowerCase());
  // A checksum is split into letters by its digits; a name that is mostly digits is a number.
  const letters = words.filter(isTelling).join("").length;
  return letters * 3 >= stem.length ? stem.replaceAll("_", " ") : "";
}
