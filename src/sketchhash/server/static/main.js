// @ts-check
/** The page: connects the drawing, the filters and the pictures with the search and its answer. */

import { About } from "./about.js";
import { askForToken, enter } from "./access.js";
import { ServiceError, fetchGallery, search } from "./api.js";
import { asDuration, byId, counted } from "./dom.js";
import { Drawing } from "./drawing.js";
import { FilterBar } from "./filters.js";
import { HitGrid } from "./hits.js";
import { liveSearch, retryLater } from "./live.js";
import { PictureCard, listenForPictures } from "./picture.js";
import { Sheet, Tools, drawWithKeyboard } from "./sheet.js";
import { listenForShortcuts } from "./shortcuts.js";
import { Status, drawBarcode } from "./status.js";
import { toggleTheme } from "./theme.js";
import { Viewer } from "./viewer.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./api.js").Query} Query */

const drawing = new Drawing();
const canvas = byId("sheet", HTMLCanvasElement);
const sheet = new Sheet(canvas, drawing);
const pictureCard = new PictureCard();
const filterBar = new FilterBar();
const status = new Status();
const about = new About();
const tools = new Tools(drawing, sheet);
const viewer = new Viewer(
  (hit) => pictureCard.showPhoto(hit),
  (index) => grid.focus(index),
);
const grid = new HitGrid(byId("hits", HTMLElement), (index) => viewer.open(grid.hits, index, bits));
const retry = retryLater(() => runSearch());
let bits = 0;

const live = liveSearch(
  (/** @type {Query} */ query, signal) => {
    status.showSearching();
    return search(query, filterBar.filters, signal);
  },
  (outcome) => ("answer" in outcome ? showAnswer(outcome.answer) : showError(outcome.error)),
);

/** @param {{ isStillDrawing?: boolean }} when */
function runSearch({ isStillDrawing = false } = {}) {
  retry.cancel();
  /** @type {Query} */
  const query = pictureCard.query ?? { by: "drawing", strokes: drawing.strokes };
  if (query.by === "drawing" && drawing.isEmpty) return showNothing();
  return isStillDrawing ? live.later(query) : live.now(query);
}

function showNothing() {
  live.stop();
  status.showInvitation();
  grid.show([]);
  showCode(null);
}

/** @param {Answer} answer */
function showAnswer(answer) {
  retry.reset();
  bits = answer.bits;
  about.lastTimings = answer.timings_ms;
  grid.show(answer.hits);
  showCode(answer);
  status.showAnswer(answer, filterBar.isFiltering ? { label: "Search all photos", run: () => filterBar.clear() } : null);
}

/** @param {unknown} error */
function showError(error) {
  if (!(error instanceof ServiceError)) {
    reportError(error);
    return status.showFailure("The gallery's answer could not be read.", runSearch);
  }
  if (error.status === 401) return askForToken(start);
  if (error.isTemporary) return status.showWaiting(error.message, retry.schedule(error.retryAfter), runSearch);
  return status.showFailure(error.message, runSearch);
}

/** @param {Answer | null} answer */
function showCode(answer) {
  byId("code", HTMLElement).hidden = !answer;
  if (!answer) return;
  drawBarcode(byId("code-bars", SVGSVGElement), answer.code);
  byId("code-caption", HTMLElement).textContent =
    `${answer.bits} bits, compared with ${counted(answer.photos, "photo")} in ${asDuration(answer.timings_ms.total)}`;
}

async function start() {
  runSearch();
  try {
    const gallery = await fetchGallery();
    filterBar.showChoices(gallery);
    byId("gallery-size", HTMLElement).textContent = counted(gallery.photos, "photo");
  } catch (error) {
    // The page works without it, and the first search reports what is wrong.
    if (error instanceof ServiceError && error.status === 401) askForToken(start);
  }
}

drawing.addEventListener("change", () => {
  if (pictureCard.query) pictureCard.close();
  else runSearch({ isStillDrawing: true });
});
pictureCard.addEventListener("change", () => {
  if (!pictureCard.query) canvas.focus({ preventScroll: true });
  runSearch();
});
filterBar.addEventListener("change", () => runSearch());
addEventListener("themechange", () => sheet.redraw());
listenForPictures((picture) => pictureCard.showPicture(picture));
drawWithKeyboard(canvas, drawing, sheet, (text) => status.announce(text));
byId("about-open", HTMLButtonElement).addEventListener("click", () => about.open());
byId("theme-toggle", HTMLButtonElement).addEventListener("click", toggleTheme);
listenForShortcuts(
  [
    { keys: ["P"], does: "Pen", run: () => tools.choose("pen") },
    { keys: ["E"], does: "Eraser", run: () => tools.choose("eraser") },
    { keys: ["Ctrl+Z"], does: "Undo", run: () => drawing.undo() },
    { keys: ["Ctrl+Shift+Z", "Ctrl+Y"], does: "Redo", run: () => drawing.redo() },
    { keys: ["Delete"], does: "Clear the sheet", run: () => drawing.clear() },
    { keys: ["O"], does: "Search by a picture", run: () => byId("picture-choose", HTMLButtonElement).click() },
    { keys: ["Ctrl+V"], does: "Search by a copied picture" },
    { keys: ["Escape"], does: "Back to the drawing", run: () => pictureCard.close() },
    { keys: ["D"], does: "Go to the sheet: arrows move the pen, Space puts it down", run: () => canvas.focus() },
    { keys: ["H"], does: "Go to the hits: arrows move, Enter opens", run: () => grid.focus(0) },
    { keys: ["←", "→"], does: "Previous and next hit, when one is open" },
    { keys: ["M"], does: "More like the hit that is open" },
    { keys: ["I"], does: "About this gallery", run: () => void about.open() },
    { keys: ["T"], does: "Light or dark", run: toggleTheme },
    { keys: ["?"], does: "These shortcuts", run: () => byId("shortcuts", HTMLElement).togglePopover() },
  ],
  byId("shortcuts-list", HTMLElement),
);

await enter();
await start();
