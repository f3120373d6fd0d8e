// @ts-check
/** The page: connects the drawing, the filters and the pictures with the search and its answer. */

import { About } from "./about.js";
import { askForToken } from "./access.js";
import { ServiceError } from "./api.js";
import { backEnd } from "./backend.js";
import { asDuration, byId, counted, countedKinds } from "./dom.js";
import { Drawing, keepInTab } from "./drawing.js";
import { Examples } from "./examples.js";
import { FilterBar } from "./filters.js";
import { Guesses, showKnown } from "./guesses.js";
import { HitGrid, searchApart } from "./hits.js";
import { liveSearch, retryLater } from "./live.js";
import { PictureCard, listenForPictures } from "./picture.js";
import { Sheet, Tools, drawWithKeyboard } from "./sheet.js";
import { listenForShortcuts } from "./shortcuts.js";
import { Status, drawBarcode } from "./status.js";
import { toggleTheme } from "./theme.js";
import { Viewer } from "./viewer.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./api.js").Query} Query */

const PICTURE_SHORTCUTS = [
  { keys: ["O"], does: "Search by a picture", run: () => byId("picture-choose", HTMLButtonElement).click() },
  { keys: ["Ctrl+V"], does: "Search by a copied picture" },
];

const drawing = new Drawing();
const canvas = byId("sheet", HTMLCanvasElement);
const sheet = new Sheet(canvas, drawing);
const pictureCard = new PictureCard();
const filterBar = new FilterBar();
const status = new Status();
const about = new About((category) => guesses.choose(category));
const guesses = new Guesses();
const examples = new Examples((strokes) => drawing.replace(strokes));
const tools = new Tools(drawing, sheet);
const viewer = new Viewer(
  (hit) => pictureCard.showPhoto(hit),
  (place) => filterBar.goNear(place),
  (index) => grid.focus(index),
);
const grid = new HitGrid(byId("hits", HTMLElement), (index) => viewer.open(grid.hits, index, bits));
const retry = retryLater(() => runSearch());
let bits = 0;
/** @type {Answer["hits"]} */
let found = [];
/** @type {Query & { by: "drawing" }} */
let drawn = { by: "drawing", strokes: drawing.strokes };

const live = liveSearch(
  (/** @type {Query} */ query, signal) => {
    status.showSearching();
    return searchApart((filters) => backEnd.search(query, filters, signal), filterBar.filters);
  },
  (outcome) => ("answer" in outcome ? showAnswer(outcome.answer, outcome.query) : showError(outcome.error)),
);

/** @param {"later" | "settled" | "now"} when */
function runSearch(when = "now") {
  retry.cancel();
  const query = guesses.query ?? pictureCard.query ?? drawingQuery();
  if (query.by === "drawing" && drawing.isEmpty) return showNothing();
  return live[when](query);
}

/** Return the query by the drawing: the same one as long as nothing is drawn. */
function drawingQuery() {
  if (drawn.strokes !== drawing.strokes) drawn = { by: "drawing", strokes: drawing.strokes };
  return drawn;
}

function showNothing() {
  live.stop();
  status.showInvitation();
  found = [];
  showHits();
  guesses.show([]);
  showCode(null);
  void examples.load();
}

/**
 * @param {Answer} answer
 * @param {Query} query
 */
function showAnswer(answer, query) {
  retry.reset();
  bits = answer.bits;
  about.lastTimings = answer.timings_ms;
  found = answer.hits;
  showHits();
  showCode(answer);
  if (answer.kind && query.by === "picture") pictureCard.showKind(answer.kind);
  // While a kind of thing is searched for, the chips still say what was drawn: another tap goes back to it.
  if (query.by !== "category") guesses.show(answer.guesses);
  const clearFilters = { label: `Search all ${filterBar.kinds}`, run: () => filterBar.clear() };
  status.showAnswer(answer, query, filterBar.isFiltering ? clearFilters : null);
}

function showHits() {
  grid.show(filterBar.inOrder(found), filterBar.isByDate);
}

/** @param {unknown} error */
function showError(error) {
  if (!(error instanceof ServiceError)) {
    reportError(error);
    return status.showFailure("The gallery's answer could not be read.", () => runSearch());
  }
  if (error.status === 401) return askForToken(start);
  if (error.isTemporary) return status.showWaiting(error.message, retry.schedule(error.retryAfter), () => runSearch());
  return status.showFailure(error.message, () => runSearch());
}

function backToDrawing() {
  if (guesses.query) {
    guesses.release();
    runSearch();
  }
  pictureCard.close();
}

/** @param {Answer | null} answer */
function showCode(answer) {
  byId("code", HTMLElement).classList.toggle("is-empty", !answer);
  if (!answer) return;
  drawBarcode(byId("code-bars", SVGSVGElement), answer.code);
  byId("code-caption", HTMLElement).textContent =
    `${answer.bits} bits, compared with ${filterBar.compared} in ${asDuration(answer.timings_ms.total)}`;
}

/** @param {readonly string[]} categories */
function showCategories(categories) {
  guesses.offer(categories);
  const known = byId("known", HTMLDetailsElement);
  known.hidden = categories.length === 0;
  byId("known-title", HTMLElement).textContent = `What I know: ${counted(categories.length, "kind")} of things`;
  showKnown(byId("known-list", HTMLElement), categories, (category) => guesses.choose(category));
}

async function start() {
  try {
    const gallery = await backEnd.gallery();
    filterBar.showChoices(gallery);
    showCategories(gallery.model.categories);
    byId("gallery-size", HTMLElement).textContent = countedKinds(gallery);
  } catch (error) {
    // The page works without it, and the first search reports what is wrong.
    if (error instanceof ServiceError && error.status === 401) return askForToken(start);
  }
  return runSearch("settled");
}

keepInTab(drawing);
drawing.addEventListener("change", () => {
  guesses.release();
  if (pictureCard.query) pictureCard.close();
  else runSearch("later");
});
drawing.addEventListener("settle", () => runSearch("settled"));
guesses.addEventListener("change", () => runSearch());
guesses.addEventListener("unknown", (event) => {
  const word = event instanceof CustomEvent ? event.detail : "";
  status.showUnknownWord(word, { label: "What I know", run: () => void about.open() });
});
pictureCard.addEventListener("change", () => {
  guesses.release();
  if (!pictureCard.query) canvas.focus({ preventScroll: true });
  runSearch();
});
filterBar.addEventListener("change", () => runSearch());
filterBar.addEventListener("order", showHits);
addEventListener("themechange", () => sheet.redraw());
if (backEnd.canReadPictures) listenForPictures((picture) => pictureCard.showPicture(picture));
else document.body.classList.add("is-drawing-only");
drawWithKeyboard(canvas, drawing, sheet, (text) => status.announce(text));
byId("about-open", HTMLButtonElement).addEventListener("click", () => about.open());
byId("theme-toggle", HTMLButtonElement).addEventListener("click", toggleTheme);
listenForShortcuts(
  [
    { keys: ["P"], does: "Pen", run: () => tools.choose("pen") },
    { keys: ["E"], does: "Eraser", run: () => tools.choose("eraser") },
    { keys: ["Ctrl+Z"], does: "Undo", run: () => drawing.undo() },
    { keys: ["Ctrl+Shift+Z", "Ctrl+Y"], does: "Redo", run: () => drawing.redo() },
    { keys: ["Delete"], does: "Clear the sheet", run: () => tools.clear() },
    ...(backEnd.canReadPictures ? PICTURE_SHORTCUTS : []),
    { keys: ["Escape"], does: "Back to the drawing", run: backToDrawing },
    { keys: ["W"], does: "Type a word for it", run: () => byId("word", HTMLInputElement).focus() },
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

await backEnd.start();
await start();
