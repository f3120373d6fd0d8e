// @ts-check
/**
 * `<sketch-search src="https://example.org/gallery/">`: a sheet to draw on, and what a gallery has that looks like it.
 *
 * `src` is the folder that `sketchhash gallery site` wrote. The engine comes from there too, so that it always fits the
 * gallery, and is loaded when somebody comes near the sheet. Drawings stay in the browser.
 */

/** @typedef {import("./sketch-search.d.ts").Answer} Answer */
/** @typedef {import("./sketch-search.d.ts").Hit} Hit */
/** @typedef {import("./sketch-search.d.ts").Strokes} Strokes */
/** @typedef {(method: "search" | "thumbnail", ...values: any[]) => Promise<any>} Ask */

const SIDE = 512; // units of a drawing
const PEN = 5;
const COUNT = 12;
const REST_MS = 120;
const LONGEST_MS = 400;

const STYLE = `
:host { display: grid; gap: 0.75rem; font: inherit; color: inherit; }
:host([hidden]) { display: none; }
canvas { display: block; width: 100%; max-width: 24rem; aspect-ratio: 1; box-sizing: border-box; touch-action: none;
  cursor: crosshair; background: #fff; border: 1px solid #8885; border-radius: 0.5rem; }
.tools { display: flex; gap: 0.5rem; align-items: baseline; }
.status { margin: 0 0 0 auto; font-size: 0.85em; opacity: 0.75; }
ol { display: grid; grid-template-columns: repeat(auto-fill, minmax(6rem, 1fr)); gap: 0.5rem; margin: 0; padding: 0;
  list-style: none; }
button { font: inherit; color: inherit; cursor: pointer; }
li button { display: grid; gap: 0.25rem; width: 100%; padding: 0; background: none; border: 0; text-align: center; }
img { width: 100%; aspect-ratio: 1; object-fit: contain; background: #8881; border-radius: 0.35rem; }
.name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 0.85em; }
li.less { opacity: 0.55; }
`;

export class SketchSearch extends HTMLElement {
  static observedAttributes = ["src", "count"];

  #canvas = make("canvas", { part: "sheet", role: "img", tabindex: "0", "aria-label": "Draw what you are looking for" });
  #status = make("p", { class: "status", part: "status", role: "status" });
  #list = make("ol", { part: "hits", "aria-label": "Hits" });
  /** @type {number[][][]} */
  #strokes = [];
  /** @type {{ ask: Ask, originals: string | null } | null} */
  #gallery = null;
  /** @type {Promise<void> | null} */
  #loading = null;
  #isSearching = false;
  #isOutdated = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {number | null} */
  #waitingSince = null;
  /** @type {Map<number, string>} */
  #pictures = new Map();

  constructor() {
    super();
    const undo = make("button", { type: "button", part: "undo" }, "Undo");
    const clear = make("button", { type: "button", part: "clear" }, "Clear");
    undo.addEventListener("click", () => this.undo());
    clear.addEventListener("click", () => this.clear());
    const style = new CSSStyleSheet();
    style.replaceSync(STYLE);
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [style];
    root.append(this.#canvas, make("div", { class: "tools", part: "tools" }, undo, clear, this.#status), this.#list);
    this.#canvas.addEventListener("pointerdown", (event) => this.#penDown(event));
    this.#canvas.addEventListener("pointermove", (event) => this.#penMoved(event));
    for (const event of ["pointerenter", "focus"]) {
      this.#canvas.addEventListener(event, () => void this.#load().catch(() => null));
    }
    new ResizeObserver(() => this.#redraw()).observe(this.#canvas);
  }

  /** The address of the folder that holds the site. */
  get src() {
    return this.getAttribute("src") ?? "";
  }

  set src(address) {
    this.setAttribute("src", address);
  }

  /** How many hits are shown. */
  get count() {
    return Math.max(1, Number(this.getAttribute("count")) || COUNT);
  }

  set count(count) {
    this.setAttribute("count", String(count));
  }

  /** What is drawn, on a sheet 512 wide. @returns {Strokes} */
  get strokes() {
    return this.#strokes;
  }

  set strokes(strokes) {
    this.#strokes = strokes.map((stroke) => stroke.map(([x, y]) => [x, y]));
    this.#changed(0);
  }

  /** Take the last stroke back. */
  undo() {
    this.strokes = this.#strokes.slice(0, -1);
  }

  /** Empty the sheet. */
  clear() {
    this.strokes = [];
  }

  /**
   * @param {string} name
   * @param {string | null} before
   * @param {string | null} now
   */
  attributeChangedCallback(name, before, now) {
    if (before === now) return;
    if (name === "src") {
      this.#gallery = this.#loading = null;
      for (const address of this.#pictures.values()) URL.revokeObjectURL(address);
      this.#pictures.clear();
    }
    if (this.#strokes.length) this.#changed(0);
  }

  /** @param {PointerEvent} event */
  #penDown(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    this.#canvas.setPointerCapture(event.pointerId);
    this.#strokes = [...this.#strokes, [this.#placeOf(event)]];
    this.#changed(REST_MS);
  }

  /** @param {PointerEvent} event */
  #penMoved(event) {
    if (!this.#canvas.hasPointerCapture(event.pointerId)) return;
    const merged = event.getCoalescedEvents?.() ?? [];
    const points = (merged.length ? merged : [event]).map((each) => this.#placeOf(each));
    this.#strokes = [...this.#strokes.slice(0, -1), [...(this.#strokes.at(-1) ?? []), ...points]];
    this.#changed(REST_MS);
  }

  /** @param {PointerEvent} event */
  #placeOf({ clientX, clientY }) {
    const { left, top, width } = this.#canvas.getBoundingClientRect();
    const rounded = (/** @type {number} */ length) => Math.round((length * SIDE * 10) / width) / 10;
    return [rounded(clientX - left), rounded(clientY - top)];
  }

  /** Search soon: when the hand rests, or after a while if it does not. @param {number} restMs */
  #changed(restMs) {
    this.#redraw();
    clearTimeout(this.#timer);
    this.#waitingSince ??= performance.now();
    const left = this.#waitingSince + LONGEST_MS - performance.now();
    this.#timer = setTimeout(() => this.#search(), Math.max(0, Math.min(restMs, left)));
  }

  async #search() {
    this.#waitingSince = null;
    this.#isOutdated = true;
    if (this.#isSearching) return;
    this.#isSearching = true;
    while (this.#isOutdated) {
      this.#isOutdated = false;
      await this.#searchOnce();
    }
    this.#isSearching = false;
  }

  async #searchOnce() {
    if (this.#strokes.length === 0) return this.#show({ hits: [], verdict: "unsure", chance: null, guesses: [] });
    try {
      await this.#load();
      if (!this.#gallery) return undefined;
      const filters = { k: this.count, folder: null, label: null, after: null, before: null, near: null };
      const answer = await this.#gallery.ask("search", { by: "drawing", strokes: this.#strokes }, filters);
      const hits = answer.hits.map((/** @type {Hit} */ hit) => ({ ...hit, original: this.#originalOf(hit) }));
      return this.#show({ hits, verdict: answer.verdict, chance: answer.chance, guesses: answer.guesses });
    } catch (error) {
      this.#status.textContent = "The gallery cannot be reached.";
      return this.#tell("problem", error instanceof Error ? error.message : String(error));
    }
  }

  /** Load the engine and tell it where the gallery is, once; after a failure, again. */
  #load() {
    const { src } = this;
    this.#loading ??= this.#open(src).catch((error) => {
      if (src === this.src) this.#loading = null;
      throw error;
    });
    return this.#loading;
  }

  /** @param {string} src */
  async #open(src) {
    if (!src) throw new Error("sketch-search needs the attribute src: the folder of a site.");
    const site = new URL(src.replace(/\/*$/, "/"), document.baseURI).href;
    const engine = new URL("static/engine/", site).href;
    const place = new URL("gallery/", site).href;
    const [{ connect }, { readSite }] = await Promise.all([import(`${engine}client.js`), import(`${engine}engine.js`)]);
    const { originals } = await readSite(place);
    if (src !== this.src) return;
    this.#gallery = { ask: connect(place), originals: originals && new URL(originals, site).href };
  }

  /** @param {Hit} hit */
  #originalOf({ folder, name }) {
    const path = [...folder.split("/"), name].filter(Boolean).map(encodeURIComponent).join("/");
    return this.#gallery?.originals ? new URL(path, this.#gallery.originals).href : null;
  }

  /** @param {Answer} answer */
  #show(answer) {
    const { hits, guesses, verdict } = answer;
    const guess = verdict === "sure" && guesses.length ? `: ${guesses[0].category}` : "";
    this.#status.textContent = hits.length ? `${hits.length} hits${guess}` : "";
    this.#list.replaceChildren(...hits.map((hit) => this.#itemOf(hit, verdict === "sure" && !hit.likely)));
    this.#tell("hits", answer);
  }

  /**
   * @param {Hit} hit
   * @param {boolean} isLess whether others are good matches
   */
  #itemOf(hit, isLess) {
    const image = make("img", { part: "image", alt: "" });
    const name = hit.label ?? hit.name;
    const button = make("button", { type: "button", part: "hit", title: hit.name }, image);
    button.append(make("span", { class: "name", part: "name" }, name));
    button.addEventListener("click", () => this.#tell("select", hit));
    void this.#picture(image, hit.id);
    return make("li", isLess ? { class: "less" } : {}, button);
  }

  /**
   * @param {HTMLImageElement} image
   * @param {number} id
   */
  async #picture(image, id) {
    try {
      const address = this.#pictures.get(id) ?? URL.createObjectURL(await this.#gallery?.ask("thumbnail", id));
      this.#pictures.set(id, address);
      image.src = address;
    } catch {
      image.part.add("broken");
    }
  }

  /**
   * @param {"hits" | "select" | "problem"} event
   * @param {Answer | Hit | string} detail
   */
  #tell(event, detail) {
    this.dispatchEvent(new CustomEvent(event, { detail, bubbles: true, composed: true }));
  }

  #redraw() {
    const side = Math.round(this.#canvas.clientWidth * devicePixelRatio);
    const context = this.#canvas.getContext("2d");
    if (!context || !side) return;
    if (this.#canvas.width !== side) this.#canvas.width = this.#canvas.height = side;
    context.setTransform(side / SIDE, 0, 0, side / SIDE, 0, 0);
    context.clearRect(0, 0, SIDE, SIDE);
    context.lineWidth = PEN;
    context.lineCap = context.lineJoin = "round";
    context.strokeStyle = "#111";
    for (const stroke of this.#strokes) {
      context.beginPath();
      for (const [x, y] of [stroke[0], ...stroke]) context.lineTo(x, y);
      context.stroke();
    }
  }
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string>} attributes
 * @param {(Node | string)[]} content
 */
function make(tag, attributes, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}

customElements.define("sketch-search", SketchSearch);
