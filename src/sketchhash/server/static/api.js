// @ts-check
/** The service as functions. Paths are relative, so the page works behind any prefix. */

import { authorisation } from "./access.js";

/**
 * @typedef {{ id: number, distance: number, similarity: number, label: string | null, name: string, folder: string }} Hit
 * @typedef {{ ink: number, encode: number, search: number, total: number }} Timings
 * @typedef {{ hits: Hit[], code: string, bits: number, photos: number, confidence: "close" | "some" | "none",
 *   timings_ms: Timings }} Answer
 * @typedef {{ id: number, path: string, label: string | null, size: number, indexed_at: string,
 *   width: number | null, height: number | null }} Details
 * @typedef {{ name: string, categories: string[], card: string, scores: Record<string, number> }} Model
 * @typedef {{ photos: number, bits: number, memory_bytes: number, labels: Record<string, number>,
 *   folders: { path: string, photos: number }[], model: Model, version: string, edition: string,
 *   last_indexed: string | null }} Gallery
 * @typedef {{ id: number, x: number, y: number, label: string | null }} MapPoint
 * @typedef {{ k: number, folder: string | null, label: string | null }} Filters
 * @typedef {"photo" | "sketch"} PictureKind
 * @typedef {{ by: "drawing", strokes: import("./drawing.js").Strokes }
 *   | { by: "picture", picture: Blob, kind: PictureKind }
 *   | { by: "photo", hit: Hit }} Question
 */

/** Why the service did not answer, in words for the person at the page. */
export class Problem extends Error {
  /**
   * @param {number} status of the answer, 0 when there was none
   * @param {string} message
   * @param {number | null} retryAfter seconds
   */
  constructor(status, message, retryAfter = null) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** Whether it may pass by itself: nobody answered, or a service (or a proxy before it) that is not ready. */
  get passes() {
    return [0, 502, 503, 504].includes(this.status);
  }
}

/**
 * @param {Question} question
 * @param {Filters} filters
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export function search(question, filters, signal) {
  switch (question.by) {
    case "drawing":
      return call("api/search", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ strokes: question.strokes, ...filters }),
        signal,
      });
    case "picture": {
      const form = new FormData();
      form.set("picture", question.picture);
      form.set("kind", question.kind);
      for (const [name, value] of filled(filters)) form.set(name, value);
      return call("api/search", { method: "POST", body: form, signal });
    }
    case "photo":
      return call(`api/photos/${question.hit.id}/similar?${new URLSearchParams(filled(filters))}`, { signal });
  }
}

/** The service's edition of the pictures: an address that names it may be cached for good. */
let edition = "";

/** @returns {Promise<Gallery>} */
export async function fetchGallery() {
  const gallery = await call("api/gallery");
  edition = gallery.edition;
  return gallery;
}

/** @returns {Promise<MapPoint[]>} */
export const fetchMap = () => call("api/gallery/map");

/**
 * @param {number} id
 * @param {AbortSignal} signal
 * @returns {Promise<Details>}
 */
export const fetchDetails = (id, signal) => call(`api/photos/${id}/details`, { signal });

/** @param {number} id */
export const photoAddress = (id) => `api/photos/${id}?v=${edition}`;

/** @param {number} id */
export const thumbnailAddress = (id) => `api/photos/${id}/thumbnail?v=${edition}`;

/**
 * @param {Filters} filters
 * @returns {[string, string][]}
 */
function filled(filters) {
  return Object.entries(filters).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]));
}

/**
 * @param {string} path
 * @param {RequestInit} request
 */
async function call(path, request = {}) {
  let response;
  try {
    response = await fetch(path, { ...request, headers: { ...authorisation(), ...request.headers } });
  } catch (error) {
    if (request.signal?.aborted) throw error;
    throw new Problem(0, "The gallery does not answer.");
  }
  if (!response.ok) throw await problemOf(response);
  return response.json();
}

/** @param {Response} response */
async function problemOf(response) {
  // A proxy in between may answer with something else than the service's JSON.
  const { error } = await response.json().catch(() => ({}));
  return new Problem(
    response.status,
    error?.message ?? `The gallery answered with status ${response.status}.`,
    Number(response.headers.get("Retry-After")) || null,
  );
}
