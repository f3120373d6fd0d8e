// @ts-check
/** What the page says about the search: above the grid, and in a live region for screen readers. */

import { asCount, byId, counted, kindsOf, make } from "./dom.js";
import { DOUBTFUL } from "./guesses.js";

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
   * @param {import("./api.js").Query} query
   * @param {Action | null} clearFilters if there are any
   */
  showAnswer(answer, query, clearFilters) {
    const count = answer.hits.length;
    const title = count ? titleOf(answer, query) : "No hits";
    this.#enter(count ? "answered" : "empty", title);
    this.#findings.dataset.verdict = answer.chance === null ? "" : answer.verdict;
    if (answer.photos === 0) {
      this.#write("This gallery is empty. Fill it with: sketchhash index FOLDER");
    } else if (count === 0) {
      this.#write(["Nothing passes these filters.", leftOut(answer)].filter(Boolean).join(" "), clearFilters);
    } else {
      this.#write(leftOut(answer), clearFilters);
    }
    const likely = answer.hits.filter((hit) => hit.likely).length;
    this.announce(likely ? `${title}: ${asCount(likely)}, and ${asCount(count - likely)} less likely` : title);
  }

  /**
   * Say that a word is none of what the model knows.
   * @param {string} word
   * @param {Action} showKnown
   */
  showUnknownWord(word, showKnown) {
    const text = `I don't know “${word}”.`;
    this.#write(text, showKnown);
    this.announce(text);
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
    delete this.#findings.dataset.verdict;
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
 * Say how sure an answer is, in the heading of its hits; a model without calibration cannot tell. What the model knows
 * and does not find is not a kind of thing that it does not know.
 * @param {import("./api.js").Answer} answer
 * @param {import("./api.js").Query} query
 */
function titleOf(answer, query) {
  const { verdict, guesses } = answer;
  const kinds = kindsOf(answer.hits.length, answer.hits.filter(({ kind }) => kind === "drawing").length);
  const called = `${kinds[0].toUpperCase()}${kinds.slice(1)}`;
  if (query.by === "photo") return `${called} like it`;
  if (query.by === "category" && (verdict === "sure" || answer.chance === null)) return `${called} of: ${query.category}`;
  if (answer.chance === null) return `Nearest ${kinds}`;
  if (verdict === "sure") return "Good matches";
  const isSeen = guesses.length > 0 && guesses[0].chance >= DOUBTFUL;
  const seen = query.by === "category" ? query.category : isSeen ? guesses[0].category : null;
  if (verdict === "unknown" && seen) return `I see no photo of: ${seen}; nearest ${query.by === "drawing" ? "shapes" : kinds}:`;
  if (verdict === "unknown") return "I don't know this kind of thing; nearest shapes:";
  if (seen) return `Not sure that these show: ${seen}`;
  return query.by === "drawing" ? "Not sure yet: go on drawing" : `Not sure; nearest ${kinds}:`;
}

/** Say how many pictures a filter left out because they have no date or place. @param {import("./api.js").Answer} answer */
function leftOut(answer) {
  /** @type {[number, string][]} */
  const lacking = [
    [answer.undated, "date"],
    [answer.unplaced, "place"],
  ];
  return lacking
    .filter(([count]) => count)
    .map(([count, what]) =>
      count === 1 ? `1 has no ${what} and is left out.` : `${asCount(count)} have no ${what} and are left out.`,
    )
    .join(" ");
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
