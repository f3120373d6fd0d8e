// @ts-check
/**
 * A gallery that needs no service: a drawing becomes ink and a code in the browser, and finds its photos there, in the
 * order in which the service finds them. What is needed for hits alone is fetched with them, in packs: photos of one
 * kind of thing lie side by side, so that the hits of a drawing are in few packs.
 */

import { Calibration, FIRST_HITS, JUDGED_HITS, NO_JUDGEMENT } from "./calibration.js";
import { Files } from "./files.js";
import { rasterise, shareOfInk } from "./ink.js";
import { findByWords } from "./names.js";
import { distance, groupsOf, orderByShape, pack, smallest, unpack, weigh } from "./ranking.js";
import { Scanner } from "./scan.js";
import { SHAPE_BYTES, ShapeQuery } from "./shape.js";

/** @typedef {import("../api.js").Answer} Answer */
/** @typedef {import("../api.js").Filters} Filters */
/** @typedef {import("../api.js").Hit} Hit */
/** @typedef {import("../api.js").Details} Details */

/**
 * What gallery.json says. The files of an edition lie in a folder of its name: no page mixes two of them.
 * @typedef {{ format: number, edition: string, network: string, runtime: string, gallery: import("../api.js").Gallery, originals: string | null,
 *   ink: import("./ink.js").Ink, calibration: import("./calibration.js").Coefficients | null, metric_unit: number,
 *   copy_radius: number, pack_rows: number, thumbnail_packs: number[], labels: string[], folders: string[],
 *   has_tags: boolean, has_svg: boolean }} Site
 * @typedef {{ name: string, kind: "photo" | "drawing", size: number, modified_at: string, indexed_at: string,
 *   width: number | null, height: number | null, hash: string, copies?: number, copy_ids?: number[] }} Row
 * @typedef {{ by: "drawing", strokes: import("./ink.js").Strokes } | { by: "photo", id: number }
 *   | { by: "category", category: string }} Query
 */

const FORMAT = 1;
/** Hits that are ordered by shape at least: many photos of a kind share one code. */
const SHAPED = 1000;
const WARM_UP = 8;
/** What is said of a photo whose pack cannot be had. @type {Row} */
const NOT_KEPT = { name: "", kind: "photo", size: 0, modified_at: "", indexed_at: "", width: null, height: null, hash: "" };

export class Engine {
  /** @type {Files} */
  #files;
  /** @type {Site} */
  site;
  /** @type {any} the session of onnxruntime */
  #session;
  #ort;
  /** @type {Promise<unknown>} */
  #turn = Promise.resolve();
  #width;
  #codes;
  #ids;
  #labels;
  #folders;
  #taken;
  /** Which rows are drawings; null if none is. @type {Uint8Array | null} */
  #drawings;
  #metric;
  /** @type {Map<number, number>} */
  #rows;
  /** @type {Calibration | null} */
  #calibration;
  #scanner;
  #isAsked = false;

  /**
   * Open the gallery whose files lie at an address, which ends with a slash.
   * @param {string} place
   */
  static async open(place) {
    const site = await readSite(place);
    const files = new Files(new URL(`${site.edition}/`, place).href);
    const words = async (/** @type {string} */ name) => new Uint32Array(await files.bytes(name));
    const [ort, session, codes, ids, labels, folders, taken, drawings, metric, vectors] = await Promise.all([
      ...startNetwork(files, site),
      files.bytes("codes.gz").then((bytes) => new Uint8Array(bytes)),
      files.bytes("ids.gz").then((bytes) => new Float64Array(bytes)),
      words("labels.gz"),
      words("folders.gz"),
      files.bytes("taken.gz").then((bytes) => new Float64Array(bytes)),
      site.gallery.drawings ? files.bytes("drawings.gz").then((bytes) => new Uint8Array(bytes)) : null,
      files.bytes("metric.gz").then((bytes) => new Int8Array(bytes)),
      site.calibration ? files.bytes("calibration.gz").then((bytes) => new Float32Array(bytes)) : null,
    ]);
    return new Engine(site, files, { ort, session, codes, ids, labels, folders, taken, drawings, metric, vectors });
  }

  /**
   * @param {Site} site
   * @param {Files} files
   * @param {{ ort: any, session: any, codes: Uint8Array, ids: Float64Array, labels: Uint32Array, folders: Uint32Array,
   *   taken: Float64Array, drawings: Uint8Array | null, metric: Int8Array, vectors: Float32Array | null }} parts
   */
  constructor(site, files, { ort, session, codes, ids, labels, folders, taken, drawings, metric, vectors }) {
    this.site = site;
    this.#files = files;
    this.#ort = ort;
    this.#session = session;
    this.#width = site.gallery.bits / 8;
    this.#codes = codes;
    this.#ids = ids;
    this.#labels = labels;
    this.#folders = folders;
    this.#taken = taken;
    this.#drawings = drawings;
    this.#metric = metric;
    this.#rows = new Map(Array.from(ids, (id, row) => [id, row]));
    this.#calibration = site.calibration && vectors ? new Calibration(site.calibration, vectors) : null;
    this.#scanner = new Scanner(codes, this.#width);
  }

  /**
   * Search by a drawing, a photo of the gallery or a kind of thing.
   * @param {Query} query
   * @param {Filters} filters
   * @returns {Promise<Answer>}
   */
  async search(query, filters) {
    this.#isAsked = true;
    const began = performance.now();
    const times = { ink: 0, encode: 0, search: 0 };
    const among = this.#rowsIn(filters);
    if (query.by === "drawing") {
      const ink = rasterise(query.strokes, this.site.ink);
      times.ink = performance.now() - began;
      const values = await this.encode(ink);
      times.encode = performance.now() - began - times.ink;
      const shape = new ShapeQuery(ink, this.#metric, this.site.metric_unit);
      const rows = await this.#find(values, Math.max(filters.k, JUDGED_HITS), among, shape);
      const judgement = this.#judged(rows, (calibration, codes) => calibration.judgeDrawing(values, codes, shareOfInk(ink)));
      return this.#answer(rows, values, judgement, filters, times, began);
    }
    const named = query.by === "category" ? await this.#named(query.category, filters, among) : [];
    if (query.by === "category" && named.length > 0) {
      const values = this.#calibration?.valuesOf(query.category);
      const others = values ? await this.#find(values, filters.k, among) : [];
      const rows = [...new Set([...named, ...others])];
      const anything = new Int8Array(8 * this.#width).fill(1);
      const answer = await this.#answer(rows, values ?? anything, NO_JUDGEMENT, filters, times, began);
      for (const hit of answer.hits.slice(0, named.length)) hit.distance = 0; // it means nothing
      return answer;
    }
    if (query.by === "category") {
      const values = this.#calibration?.valuesOf(query.category);
      if (!values) throw new RangeError(`This gallery's model does not know “${query.category}”.`);
      const rows = await this.#find(values, Math.max(filters.k, JUDGED_HITS), among);
      const judgement = this.#judged(rows, (calibration, codes) => calibration.judgeCategory(query.category, codes));
      return this.#answer(rows, values, judgement, filters, times, began);
    }
    const row = this.#rowOf(query.id);
    const [code] = this.#codesOf([row]);
    const found = await this.#find(unpack(code), Math.max(filters.k, JUDGED_HITS) + 1, among);
    const rows = found.filter((other) => other !== row);
    const isDrawing = this.#drawings?.[row];
    const judgement = isDrawing ? NO_JUDGEMENT : this.#judged(rows, (calibration, codes) => calibration.judgePhoto(code, codes));
    return this.#answer(rows, unpack(code), judgement, filters, times, began);
  }

  /**
   * Return what the network gives for ink; one drawing at a time.
   * @param {Uint8Array} ink
   * @returns {Promise<Float32Array>}
   */
  encode(ink) {
    const { size } = this.site.ink;
    const encoding = this.#turn.then(async () => {
      const sketches = new this.#ort.Tensor("uint8", ink, [1, size, size]);
      return (await this.#session.run({ sketches })).values.data;
    });
    this.#turn = encoding.catch(() => null);
    return encoding;
  }

  /** Encode an empty sheet some times, unless somebody searches: browsers compile what is used often. */
  async warmUp() {
    const paper = new Uint8Array(this.site.ink.size ** 2).fill(255);
    for (let time = 0; time < WARM_UP && !this.#isAsked; time++) {
      await this.encode(paper);
      await new Promise((heard) => setTimeout(heard)); // a search may have been asked for meanwhile
    }
  }

  /** Return the small picture of a photo. @param {number} id */
  async thumbnail(id) {
    const row = this.#rowOf(id);
    const firsts = this.site.thumbnail_packs;
    const number = firsts.findLastIndex((first) => first <= row);
    const content = await this.#files.keep(`thumbnails/${number}.pack`, (name) => this.#files.bytes(name));
    const [count] = new Uint32Array(content, 0, 1);
    const sizes = new Uint32Array(content, 4, count);
    const place = row - firsts[number];
    const start = 4 * (count + 1) + sizes.subarray(0, place).reduce((sum, size) => sum + size, 0);
    return new Blob([new Uint8Array(content, start, sizes[place])], { type: "image/jpeg" });
  }

  /** Return what the site says about a photo. @param {number} id @returns {Promise<Details>} */
  async details(id) {
    const row = this.#rowOf(id);
    const about = await this.#about(row);
    const folder = this.site.folders[this.#folders[row]];
    return {
      id,
      path: folder ? `${folder}/${about.name}` : about.name,
      label: this.#labelOf(row),
      size: about.size,
      indexed_at: about.indexed_at,
      taken_at: this.#takenAt(row),
      modified_at: about.modified_at,
      width: about.width,
      height: about.height,
      camera: null,
      latitude: null,
      longitude: null,
      description: null,
    };
  }

  /** Return the copies of a photo, the nearest first. @param {number} id @returns {Promise<Hit[]>} */
  async copies(id) {
    const row = this.#rowOf(id);
    const [code] = this.#codesOf([row]);
    const rows = ((await this.#about(row)).copy_ids ?? []).map((other) => this.#rowOf(other));
    const about = await Promise.all(rows.map((other) => this.#about(other)));
    return rows.map((other, place) => ({ ...this.#hit(other, about[place], code), copy_of: id, copies: null }));
  }

  /** Return at most so many names of drawings that a word means, and the word if it is a tag. @param {string} word @param {number} most */
  async meanings(word, most) {
    if (!this.#drawings) return [];
    const names = findByWords(word, this.site.labels, (label) => label).slice(0, most);
    return (await this.#tagged(word)).length ? [...names, word] : names;
  }

  /** Return the SVG of a drawing. @param {number} id @returns {Promise<string>} */
  async svg(id) {
    const [row, size] = [this.#rowOf(id), this.site.pack_rows];
    const svgs = this.site.has_svg ? await this.read(`svg/${Math.floor(row / size)}.json.gz`) : [];
    if (!svgs[row % size]) throw new RangeError(`This site has no SVG of drawing ${id}.`);
    return svgs[row % size];
  }

  /** Return the folders that lie directly in one. @param {string} below */
  folders(below) {
    const start = below ? `${below}/` : "";
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const number of this.#folders) {
      const folder = this.site.folders[number];
      if (!folder.startsWith(start) || folder.length === start.length || folder === below) continue;
      const path = start + folder.slice(start.length).split("/")[0];
      counts.set(path, (counts.get(path) ?? 0) + 1);
    }
    return [...counts].map(([path, photos]) => ({ path, photos })).sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Read one of the files that are asked for seldom. @param {string} name */
  read(name) {
    return this.#files.keep(name, () => this.#files.json(name));
  }

  /**
   * Return the rows of the nearest photos, best first.
   * @param {ArrayLike<number>} values
   * @param {number} k
   * @param {Uint32Array | null} among
   * @param {ShapeQuery | null} shape
   */
  async #find(values, k, among, shape = null) {
    this.#scanner.weigh(pack(values), weigh(values));
    const rows = smallest(this.#scanner.sums, this.#ids, shape ? Math.max(k, SHAPED) : k, among);
    if (!shape) return rows;
    const groups = groupsOf(rows, this.#codes, this.#width, this.#scanner.sums);
    return orderByShape(rows, groups, await this.#fits(rows, shape)).slice(0, k);
  }

  /**
   * Return the rows of drawings by their names, the nearest first, and then by their tags.
   * @param {string} word
   * @param {Filters} filters
   * @param {Uint32Array | null} among
   */
  async #named(word, filters, among) {
    if (!this.#drawings || filters.label) return [];
    const passing = among && new Set(among);
    const drawn = Array.from(this.#drawings.keys()).filter((row) => this.#drawings?.[row] && (passing?.has(row) ?? true));
    /** @type {Map<string, number[]>} */
    const called = new Map();
    for (const row of drawn) {
      const label = this.#labelOf(row) ?? "";
      called.set(label, [...(called.get(label) ?? []), row]);
    }
    const ones = new Uint8Array(this.#width).fill(255);
    const order = (/** @type {number} */ row) => distance(this.#codes, row, ones);
    const names = findByWords(word, this.site.labels, (label) => label).slice(0, filters.k);
    const byName = names.flatMap((label) =>
      (called.get(label) ?? []).sort((a, b) => order(a) - order(b) || this.#ids[a] - this.#ids[b]),
    );
    const tagged = await this.#tagged(word);
    return [...new Set([...byName, ...tagged.filter((row) => passing?.has(row) ?? true)])].slice(0, filters.k);
  }

  /** Return the rows of drawings whose tags have all words of a text. @param {string} text */
  async #tagged(text) {
    if (!this.site.has_tags) return [];
    /** @type {[number, string][]} */
    const tagged = await this.read("tags.json.gz");
    return findByWords(text, tagged, ([, tags]) => tags).map(([row]) => row);
  }

  /**
   * Return how well photos fit a shape; one without a shape is in the middle.
   * @param {readonly number[]} rows
   * @param {ShapeQuery} query
   */
  async #fits(rows, query) {
    const size = this.site.pack_rows;
    const numbers = [...new Set(rows.map((row) => Math.floor(row / size)))];
    const packs = new Map(
      await Promise.all(
        numbers.map(async (number) => {
          const content = await this.#files.keep(`shapes/${number}.gz`, (name) => this.#files.bytes(name)).catch(ifOnline);
          return /** @type {[number, Uint8Array | null]} */ ([number, content && new Uint8Array(content)]);
        }),
      ),
    );
    const fits = rows.map((row) => {
      const bytes = packs.get(Math.floor(row / size));
      if (!bytes) return null;
      const count = bytes.length / (SHAPE_BYTES + 1);
      const place = row % size;
      if (!bytes[count * SHAPE_BYTES + place]) return null;
      return query.score(bytes.subarray(place * SHAPE_BYTES, (place + 1) * SHAPE_BYTES));
    });
    const middle = Math.fround(median(fits.filter((fit) => fit !== null)));
    return fits.map((fit) => fit ?? middle);
  }

  /**
   * @param {number[]} found
   * @param {ArrayLike<number>} values
   * @param {import("./calibration.js").Judgement} judged
   * @param {Filters} filters
   * @param {{ ink: number, encode: number, search: number }} times
   * @param {number} began
   * @returns {Promise<Answer>}
   */
  async #answer(found, values, judged, filters, times, began) {
    const { verdict, chance, guesses, chances, likely } = judged;
    const code = pack(values);
    const rows = found.slice(0, filters.k);
    const about = await Promise.all(rows.map((row) => this.#about(row)));
    const hits = rows.map((row, place) => ({
      ...this.#hit(row, about[place], code),
      chance: place < chances.length ? rounded(chances[place]) : null,
      likely: place < likely,
    }));
    markCopies(hits, about.map(({ hash }) => hash), this.site.copy_radius);
    const total = performance.now() - began;
    return {
      hits,
      verdict,
      chance: chance === null ? null : rounded(chance),
      guesses: guesses.map((guess) => ({ category: guess.category, chance: rounded(guess.chance) })),
      code: Array.from(code, (byte) => byte.toString(16).padStart(2, "0")).join(""),
      bits: this.site.gallery.bits,
      photos: this.#ids.length,
      undated: this.#undated(filters),
      unplaced: 0,
      kind: null,
      timings_ms: { ...times, search: total - times.ink - times.encode, total },
    };
  }

  /**
   * Judge hits as far as chances were measured, which is with photos: from the first drawing on hits have none, and if
   * that is one of the first, the answer has none either.
   * @param {readonly number[]} rows
   * @param {(calibration: Calibration, codes: Uint8Array[]) => import("./calibration.js").Judgement} judge
   */
  #judged(rows, judge) {
    if (!this.#calibration) return NO_JUDGEMENT;
    const drawn = this.#drawings ? rows.findIndex((row) => this.#drawings?.[row]) : -1;
    const photos = drawn < 0 ? rows.length : drawn;
    const judgement = judge(this.#calibration, this.#codesOf(rows.slice(0, photos)));
    if (photos >= Math.min(FIRST_HITS, rows.length)) return judgement;
    return { ...NO_JUDGEMENT, guesses: judgement.guesses };
  }

  /** @param {number} row @param {Row} about @param {Uint8Array} code what it is compared with @returns {Hit} */
  #hit(row, about, code) {
    return {
      id: this.#ids[row],
      distance: distance(this.#codes, row, code),
      chance: null,
      likely: false,
      label: this.#labelOf(row),
      name: about.name,
      folder: this.site.folders[this.#folders[row]],
      taken_at: this.#takenAt(row),
      copy_of: null,
      kind: about.kind,
      copies: about.copies ?? null, // sites of older versions do not tell
    };
  }

  /** Return the rows that pass filters, or null for all. @param {Filters} filters */
  #rowsIn(filters) {
    if (!filters.folder && !filters.label && !filters.after && !filters.before) return null;
    const [start, end] = [startOf(filters.after), endOf(filters.before)];
    const passes = this.#placed(filters);
    const isDated = Boolean(filters.after || filters.before);
    return Uint32Array.from(this.#ids.keys()).filter(
      (row) => passes(row) && (!isDated || (this.#taken[row] >= start && this.#taken[row] < end)),
    );
  }

  /** Return whether rows are in the folder and have the label that are asked for. @param {Filters} filters */
  #placed({ folder, label }) {
    const inside = this.site.folders.map((name) => !folder || name === folder || name.startsWith(`${folder}/`));
    const wanted = label === null ? -1 : this.site.labels.indexOf(label) + 1;
    return (/** @type {number} */ row) => inside[this.#folders[row]] && (wanted < 0 || this.#labels[row] === (wanted || -1));
  }

  /** Count the photos that pass but for their date, and have none. @param {Filters} filters */
  #undated(filters) {
    if (!filters.after && !filters.before) return 0;
    const passes = this.#placed(filters);
    return this.#taken.reduce((count, time, row) => count + (Number.isNaN(time) && passes(row) ? 1 : 0), 0);
  }

  /** @param {number} row @returns {Promise<Row>} */
  async #about(row) {
    const size = this.site.pack_rows;
    const rows = await this.read(`details/${Math.floor(row / size)}.json.gz`).catch(ifOnline);
    return rows ? rows[row % size] : { ...NOT_KEPT, name: `photo ${this.#ids[row]}` };
  }

  /** @param {readonly number[]} rows */
  #codesOf(rows) {
    return rows.map((row) => this.#codes.subarray(row * this.#width, (row + 1) * this.#width));
  }

  /** @param {number} row */
  #labelOf(row) {
    return this.#labels[row] ? this.site.labels[this.#labels[row] - 1] : null;
  }

  /** Return when a photo was taken, by the camera's clock. @param {number} row */
  #takenAt(row) {
    const seconds = this.#taken[row];
    return Number.isNaN(seconds) ? null : new Date(seconds * 1000).toISOString().slice(0, 19);
  }

  /** @param {number} id */
  #rowOf(id) {
    const row = this.#rows.get(id);
    if (row === undefined) throw new RangeError(`There is no photo ${id} in this gallery. Search again.`);
    return row;
  }
}

/** Without a network, do without a pack that was never looked at. @param {unknown} error @returns {null} */
function ifOnline(error) {
  if (navigator.onLine) throw error;
  return null;
}

/** Read what a site says about itself. @param {string} place @returns {Promise<Site>} */
export async function readSite(place) {
  const response = await fetch(new URL("gallery.json", place), { cache: "no-cache" });
  if (!response.ok) throw new Error(`There is no gallery at ${place}: status ${response.status}.`);
  const site = await response.json();
  if (site.format !== FORMAT) throw new Error("This gallery was written for another version of the page. Write it anew.");
  return site;
}

/**
 * Start the network: onnxruntime, and a session with the model. One thread is enough for one drawing, and more need
 * headers that most hosts do not send.
 * @param {Files} files
 * @param {Site} site
 * @returns {[Promise<any>, Promise<any>]}
 */
function startNetwork(files, { network, runtime }) {
  const [binary, model] = [files.bytes(`${runtime}ort.wasm.gz`), files.bytes(network)];
  const ort = import(files.address(`${runtime}ort.js`)).then(async (module) => {
    module.env.wasm.numThreads = 1;
    module.env.wasm.wasmBinary = await binary;
    return module;
  });
  const session = Promise.all([ort, model]).then(([{ InferenceSession }, content]) =>
    InferenceSession.create(new Uint8Array(content), { executionProviders: ["wasm"], logSeverityLevel: 3 }),
  );
  return [ort, session];
}

/**
 * Note for each hit that is a copy of a better one which that is.
 * @param {Hit[]} hits
 * @param {string[]} hashes in hexadecimal, "" for none
 * @param {number} radius in how many bits the hashes of copies differ at most
 */
function markCopies(hits, hashes, radius) {
  /** @type {{ id: number, hash: bigint }[]} */
  const first = [];
  hits.forEach((hit, place) => {
    const hash = BigInt(`0x${hashes[place] || 0}`);
    if (!hash) return;
    const of = first.find((other) => bitCount(hash ^ other.hash) <= radius);
    if (of) [hit.copy_of, hit.copies] = [of.id, null];
    else first.push({ id: hit.id, hash });
  });
}

/** @param {bigint} bits */
function bitCount(bits) {
  return bits.toString(2).replaceAll("0", "").length;
}

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length === 0 ? 0 : sorted.length % 2 ? sorted[half] : Math.fround((sorted[half - 1] + sorted[half]) / 2);
}

/** @param {number} chance */
function rounded(chance) {
  return Math.round(chance * 1e4) / 1e4;
}

/** Return the first second of a month, such as 2023-06. @param {string | null} month */
function startOf(month) {
  return month ? Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5, 7)) - 1) / 1000 : -Infinity;
}

/** Return the first second after a month. @param {string | null} month */
function endOf(month) {
  return month ? Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5, 7))) / 1000 : Infinity;
}
