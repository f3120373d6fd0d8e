// @ts-check
/** What the page says about the search: above the grid, and in a live region for screen readers. */

import { byId, counted, make } from "./dom.js";

/** @typedef {{ label: string, run: () => void }} Action */

// While someone draws, hits change many times a second: only the last count is announced.
const ANNOUNCE_AFTER_MS = 800;
// A quick answer needs no sign that a search is under way.
const SHOW_WAITING_AFTER_MS = 250;

export class Status {
  #findings = byId("findings", HTMLElement);
  #note = byId("note", HTMLElement);
  #title = byId("hits-title", HTMLElement);
  #announcement = byId("announcement", HTMLElement);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #waiting;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #announcing;

  /** Invite to draw: there is nothing to search for. */
  showInvitation() {
    this.#enter("invited", "Hits");
    this.#write("");
  }

  /** Show that a search is under way, unless it is quick. */
  showSearching() {
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => this.#findings.classList.add("is-waiting"), SHOW_WAITING_AFTER_MS);
  }

  /**
   * Describe an answer.
   * @param {import("./api.js").Answer} answer
   * @param {Action | null} clearFilters if there are any
   */
  showAnswer(answer, clearFilters) {
    const count = answer.hits.length;
    this.#enter(count ? "answered" : "empty", count ? counted(count, "hit") : "No hits");
    this.#findings.dataset.confidence = answer.confidence;
    if (answer.photos === 0) {
      this.#write("This gallery has no photos yet. Fill it with: sketchhash index FOLDER");
    } else if (count === 0) {
      this.#write("No photo passes these filters.", clearFilters);
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
   * Report that the gallery does not answer or is busy, and when the page tries again; the drawing stays.
   * @param {string} message
   * @param {number} seconds
   * @param {() => void} retry
   */
  showWaiting(message, seconds, retry) {
    this.#enter("offline", "Waiting for the gallery");
    const text = `${message} Your drawing is kept. Trying again in ${counted(Math.ceil(seconds), "second")}.`;
    this.#write(text, { label: "Try now", run: retry });
    this.announce(text);
  }

  /**
   * Report an error that will not pass by itself.
   * @param {string} message
   * @param {() => void} retry
   */
  showFailure(message, retry) {
    this.#enter("failed", "That did not work");
    this.#write(message, { label: "Try again", run: retry });
    this.announce(message);
  }

  /** Tell screen readers. @param {string} text */
  announce(text) {
    clearTimeout(this.#announcing);
    this.#announcing = setTimeout(() => (this.#announcement.textContent = text), ANNOUNCE_AFTER_MS);
  }

  /**
   * @param {"invited" | "answered" | "empty" | "offline" | "failed"} state
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
   * @param {string} text
   * @param {Action | null} action
   */
  #write(text, action = null) {
    this.#note.hidden = !text;
    this.#note.replaceChildren(make("p", {}, text));
    if (action) this.#note.append(make("button", { type: "button", onclick: action.run }, action.label));
  }
}

/**
 * Draw a code as a barcode: a bar for every bit that is 1.
 * @param {SVGSVGElement} picture
 * @param {string} code hexadecimal, highest bit first
 */
export function drawBarcode(picture, code) {
  const bits = [...code].flatMap((digit) => [...Number.parseInt(digit, 16).toString(2).padStart(4, "0")]);
  const bars = bits.map((bit, index) => (bit === "1" ? `M${index} 0h1v1h-1z` : ""));
  picture.setAttribute("viewBox", `0 0 ${Math.max(bits.length, 1)} 1`);
  picture.querySelector("path")?.setAttribute("d", bars.join(""));
}
