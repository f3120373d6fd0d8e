// @ts-check
/** What the page says about the search: to the eye above the grid, to the ear in a live region. */

import { counted, make, part } from "./dom.js";

/** @typedef {{ label: string, act: () => void }} Offer */

// While someone draws, hits change many times a second: only the last count is worth hearing.
const ANNOUNCE_AFTER_MS = 800;
// A quick answer needs no sign that it is coming.
const SHOW_WAITING_AFTER_MS = 250;

export class Notes {
  #findings = part("findings", HTMLElement);
  #note = part("note", HTMLElement);
  #title = part("hits-title", HTMLElement);
  #announcement = part("announcement", HTMLElement);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #waiting;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #speaking;

  /** Nothing was asked yet. */
  invite() {
    this.#enter("invited", "Hits");
    this.#write("");
  }

  searching() {
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => this.#findings.classList.add("is-waiting"), SHOW_WAITING_AFTER_MS);
  }

  /**
   * @param {import("./api.js").Answer} answer
   * @param {Offer | null} widen how to lift the filters, if there are any
   */
  answered(answer, widen) {
    const count = answer.hits.length;
    this.#enter(count ? "answered" : "barren", count ? counted(count, "hit") : "No hits");
    this.#findings.dataset.confidence = answer.confidence;
    if (answer.photos === 0) {
      this.#write("This gallery has no photos yet. Fill it with: sketchhash index FOLDER");
    } else if (count === 0) {
      this.#write("No photo passes these filters.", widen);
    } else if (answer.confidence === "none") {
      this.#write("Nothing here is closer than chance. These are the nearest photos all the same; a few more lines may help.");
    } else if (answer.confidence === "some") {
      this.#write("Some of these may be it. More of what makes it special would help.");
    } else {
      this.#write("");
    }
    this.announce(
      answer.confidence === "none" && count
        ? `${counted(count, "hit")}, none of them close`
        : `${counted(count, "hit")} of ${counted(answer.photos, "photo")}`,
    );
  }

  /**
   * The gallery is out of reach, or busy: what was drawn stays, and the page keeps trying.
   * @param {string} message
   * @param {number} seconds
   * @param {() => void} retry
   */
  waitsFor(message, seconds, retry) {
    this.#enter("offline", "Waiting for the gallery");
    const words = `${message} Your drawing is kept. Trying again in ${counted(Math.ceil(seconds), "second")}.`;
    this.#write(words, { label: "Try now", act: retry });
    this.announce(words);
  }

  /**
   * @param {string} message
   * @param {() => void} retry
   */
  failed(message, retry) {
    this.#enter("failed", "That did not work");
    this.#write(message, { label: "Try again", act: retry });
    this.announce(message);
  }

  /** @param {string} words */
  announce(words) {
    clearTimeout(this.#speaking);
    this.#speaking = setTimeout(() => (this.#announcement.textContent = words), ANNOUNCE_AFTER_MS);
  }

  /**
   * @param {"invited" | "answered" | "barren" | "offline" | "failed"} state
   * @param {string} title
   */
  #enter(state, title) {
    clearTimeout(this.#waiting);
    this.#findings.classList.remove("is-waiting");
    this.#findings.dataset.state = state;
    delete this.#findings.dataset.confidence;
    this.#title.textContent = title;
  }

  /**
   * @param {string} words
   * @param {Offer | null} offer
   */
  #write(words, offer = null) {
    this.#note.hidden = !words;
    this.#note.replaceChildren(make("p", {}, words));
    if (offer) this.#note.append(make("button", { type: "button", onclick: offer.act }, offer.label));
  }
}

/**
 * @param {SVGSVGElement} picture
 * @param {string} code hexadecimal, highest bit first
 */
export function drawBarcode(picture, code) {
  const bits = [...code].flatMap((digit) => [...Number.parseInt(digit, 16).toString(2).padStart(4, "0")]);
  const bars = bits.map((bit, place) => (bit === "1" ? `M${place} 0h1v1h-1z` : ""));
  picture.setAttribute("viewBox", `0 0 ${Math.max(bits.length, 1)} 1`);
  picture.querySelector("path")?.setAttribute("d", bars.join(""));
}
