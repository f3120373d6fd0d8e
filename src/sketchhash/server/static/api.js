// @ts-check
/** What a page asks of a gallery, and what it answers: the service over HTTP and the engine in the browser do it alike. */

/**
 * @typedef {{ id: number, distance: number, chance: number | null, likely: boolean, label: string | null, name: string,
 *   folder: string, taken_at: string | null, copy_of: number | null, copies: number | null,
 *   kind: "photo" | "drawing" }} Hit
 * @typedef {{ category: string, chance: number }} Guess
 * @typedef {{ name: string, strokes: import("./drawing.js").Strokes }} Example
 * @typedef {{ ink: number, encode: number, search: number, total: number }} Timings
 * @typedef {{ hits: Hit[], code: string, bits: number, photos: number, verdict: "sure" | "unsure" | "unknown",
 *   chance: number | null, guesses: Guess[], undated: number, unplaced: number, kind: PictureKind | null,
 *   timings_ms: Timings }} Answer
 * @typedef {{ id: number, path: string, label: string | null, size: number, indexed_at: string,
 *   taken_at: string | null, modified_at: string, width: number | null, height: number | null,
 *   camera: string | null, latitude: number | null, longitude: number | null, description: string | null }} Details
 * @typedef {{ name: string, categories: string[], card: string, scores: Record<string, number> }} Model
 * @typedef {{ photos: number, bits: number, memory_bytes: number, labels: Record<string, number>,
 *   folders: Folder[], model: Model, version: string, edition: string,
 *   last_indexed: string | null, dated: number, placed: number, first_taken: string | null,
 *   last_taken: string | null, drawings: number }} Gallery
 * @typedef {{ id: number, x: number, y: number, label: string | null, guess: string | null }} MapPoint
 * @typedef {{ path: string, photos: number }} Folder
 * @typedef {{ address: string, qr: string, side: number }} PageAddress
 * @typedef {{ k: number, folder: string | null, label: string | null, after: string | null, before: string | null,
 *   near: string | null }} Filters
 * @typedef {"photo" | "sketch"} PictureKind
 * @typedef {{ by: "drawing", strokes: import("./drawing.js").Strokes }
 *   | { by: "picture", picture: Blob, kind: PictureKind | "auto" }
 *   | { by: "photo", hit: Hit }
 *   | { by: "category", category: string }} Query
 */

/**
 * What answers the page. An address is that of a picture to show.
 * @typedef {{
 *   canReadPictures: boolean,
 *   start: () => Promise<void>,
 *   search: (query: Query, filters: Filters, signal: AbortSignal) => Promise<Answer>,
 *   gallery: () => Promise<Gallery>,
 *   categories: (word: string) => Promise<{ category: string }[]>,
 *   examples: () => Promise<Example[]>,
 *   addresses: () => Promise<PageAddress[]>,
 *   folders: (below: string) => Promise<Folder[]>,
 *   map: () => Promise<MapPoint[]>,
 *   details: (id: number, signal: AbortSignal) => Promise<Details>,
 *   thumbnail: (id: number) => Promise<string>,
 *   original: (hit: Hit) => string | null,
 *   copies: (id: number) => Promise<Hit[]>,
 *   svg?: (id: number, signal: AbortSignal) => Promise<{ svg: string }>,
 * }} BackEnd
 */

/** The service did not answer, or refused; the message is for the person at the page. */
export class ServiceError extends Error {
  /**
   * @param {number} status of the response, 0 if there was none
   * @param {string} message
   * @param {number | null} retryAfter seconds
   */
  constructor(status, message, retryAfter = null) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** Whether trying again may help: there was no response, or the service (or a proxy before it) is not ready. */
  get isTemporary() {
    return [0, 502, 503, 504].includes(this.status);
  }
}
