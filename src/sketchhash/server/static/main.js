// @ts-check
/** The page: what is asked, and what its parts do with the answer. */

import { About } from "./about.js";
import { askForToken, enter } from "./access.js";
import { Problem, fetchGallery, search } from "./api.js";
import { asDuration, counted, part } from "./dom.js";
import { Drawing } from "./drawing.js";
import { FilterBar } from "./filters.js";
import { HitGrid } from "./hits.js";
import { liveSearch, retryLater } from "./live.js";
import { Subject, listenForPictures } from "./picture.js";
import { Sheet, Tools, drawWithArrows } from "./sheet.js";
import { listenForShortcuts } from "./shortcuts.js";
import { Notes, drawBarcode } from "./status.js";
import { toggleTheme } from "./theme.js";
import { Viewer } from "./viewer.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./api.js").Question} Question */

const drawing = new Drawing();
const canvas = part("sheet", HTMLCanvasElement);
const sheet = new Sheet(canvas, drawing);
const subject = new Subject();
const filterBar = new FilterBar();
const notes = new Notes();
const about = new About();
const tools = new Tools(drawing, sheet);
const viewer = new Viewer(
  (hit) => subject.showPhoto(hit),
  (place) => grid.focus(place),
);
const grid = new HitGrid(part("hits", HTMLElement), (place) => viewer.open(grid.hits, place, bits));
const retry = retryLater(() => ask());
let bits = 0;

const live = liveSearch(
  (/** @type {Question} */ question, signal) => {
    notes.searching();
    return search(question, filterBar.filters, signal);
  },
  (outcome) => ("answer" in outcome ? showAnswer(outcome.answer) : showProblem(outcome.error)),
);

/** @param {{ isStillDrawing?: boolean }} when */
function ask({ isStillDrawing = false } = {}) {
  retry.cancel();
  /** @type {Question} */
  const question = subject.question ?? { by: "drawing", strokes: drawing.strokes };
  if (question.by === "drawing" && drawing.isEmpty) return showNothing();
  return isStillDrawing ? live.later(question) : live.now(question);
}

function showNothing() {
  live.stop();
  notes.invite();
  grid.show([]);
  showCode(null);
}

/** @param {Answer} answer */
function showAnswer(answer) {
  retry.settle();
  bits = answer.bits;
  about.lastTimings = answer.timings_ms;
  grid.show(answer.hits);
  showCode(answer);
  notes.answered(answer, filterBar.isNarrow ? { label: "Search all photos", act: () => filterBar.widen() } : null);
}

/** @param {unknown} error */
function showProblem(error) {
  if (!(error instanceof Problem)) {
    reportError(error);
    return notes.failed("The gallery's answer could not be read.", ask);
  }
  if (error.status === 401) return askForToken(start);
  if (error.passes) return notes.waitsFor(error.message, retry.plan(error.retryAfter), ask);
  return notes.failed(error.message, ask);
}

/** @param {Answer | null} answer */
function showCode(answer) {
  part("code", HTMLElement).hidden = !answer;
  if (!answer) return;
  drawBarcode(part("code-bars", SVGSVGElement), answer.code);
  part("code-caption", HTMLElement).textContent =
    `${answer.bits} bits, compared with ${counted(answer.photos, "photo")} in ${asDuration(answer.timings_ms.total)}`;
}

async function start() {
  ask();
  try {
    const gallery = await fetchGallery();
    filterBar.offer(gallery);
    part("gallery-size", HTMLElement).textContent = counted(gallery.photos, "photo");
  } catch (error) {
    // The page works without; the first search tells what is wrong.
    if (error instanceof Problem && error.status === 401) askForToken(start);
  }
}

drawing.addEventListener("change", () => {
  if (subject.question) subject.putAway();
  else ask({ isStillDrawing: true });
});
subject.addEventListener("change", () => {
  if (!subject.question) canvas.focus({ preventScroll: true });
  ask();
});
filterBar.addEventListener("change", () => ask());
addEventListener("themechange", () => sheet.redraw());
listenForPictures((picture) => subject.showPicture(picture));
drawWithArrows(canvas, drawing, sheet, (words) => notes.announce(words));
part("about-open", HTMLButtonElement).addEventListener("click", () => about.open());
part("theme-toggle", HTMLButtonElement).addEventListener("click", toggleTheme);
listenForShortcuts(
  [
    { keys: ["P"], does: "Pen", run: () => tools.take("pen") },
    { keys: ["E"], does: "Eraser", run: () => tools.take("eraser") },
    { keys: ["Ctrl+Z"], does: "Undo", run: () => drawing.undo() },
    { keys: ["Ctrl+Shift+Z", "Ctrl+Y"], does: "Redo", run: () => drawing.redo() },
    { keys: ["Delete"], does: "Clear the sheet", run: () => drawing.clear() },
    { keys: ["O"], does: "Search by a picture", run: () => part("picture-choose", HTMLButtonElement).click() },
    { keys: ["Ctrl+V"], does: "Search by a copied picture" },
    { keys: ["Escape"], does: "Back to the drawing", run: () => subject.putAway() },
    { keys: ["D"], does: "Go to the sheet: arrows move the pen, Space puts it down", run: () => canvas.focus() },
    { keys: ["H"], does: "Go to the hits: arrows move, Enter opens", run: () => grid.focus(0) },
    { keys: ["←", "→"], does: "Previous and next hit, when one is open" },
    { keys: ["M"], does: "More like the hit that is open" },
    { keys: ["I"], does: "About this gallery", run: () => void about.open() },
    { keys: ["T"], does: "Light or dark", run: toggleTheme },
    { keys: ["?"], does: "These shortcuts", run: () => part("shortcuts", HTMLElement).togglePopover() },
  ],
  part("shortcuts-list", HTMLElement),
);

await enter();
await start();
