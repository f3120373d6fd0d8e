// @ts-check
/** Calls to the service. Paths are relative, so that the page works behind any prefix. */

import { authorisation } from "./access.js";

/**
 * @typedef {{ id: number, distance: number, chance: number | null, likely: boolean, label: string | null, name: string,
 *   folder: string, taken_at: string | null, copy_of: number | null }} Hit
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
 *   last_taken: string | null }} Gallery
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

/**
 * Search by a drawing, a picture, a photo of the gallery or a kind of thing.
 * @param {Query} query
 * @param {Filters} filters
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export function search(query, filters, signal) {
  switch (query.by) {
    case "drawing":
      return call("api/search", asJson({ strokes: query.strokes, ...filters }, signal));
    case "category":
      return call("api/search/category", asJson({ category: query.category, ...filters }, signal));
    case "picture": {
      const form = new FormData();
      form.set("picture", query.picture);
      form.set("kind", query.kind);
      for (const [name, value] of filled(filters)) form.set(name, value);
      return call("api/search", { method: "POST", body: form, signal });
    }
    case "photo":
      return call(`api/photos/${query.hit.id}/similar?${new URLSearchParams(filled(filters))}`, { signal });
  }
}

/**
 * @param {object} body
 * @param {AbortSignal} signal
 * @returns {RequestInit}
 */
function asJson(body, signal) {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal };
}

/** The service's edition; responses to addresses that name it may be cached for ever. */
let edition = "";

/** @returns {Promise<Gallery>} */
export async function fetchGallery() {
  const gallery = await call("api/gallery");
  edition = gallery.edition;
  return gallery;
}

/** Return the categories that a word means, the nearest first. @param {string} word @returns {Promise<{ category: string }[]>} */
export const fetchCategories = (word) => call(`api/categories?${new URLSearchParams({ word })}`);

/** @returns {Promise<Example[]>} */
export const fetchExamples = () => call("api/examples");

/** Return the addresses of the page on other machines. @returns {Promise<PageAddress[]>} */
export const fetchAddresses = () => call("api/addresses");

/** Return the folders that lie directly in one. @param {string} below @returns {Promise<Folder[]>} */
export const fetchFolders = (below) => call(`api/gallery/folders?${new URLSearchParams({ below })}`);

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
 * Return the filters that are set.
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
    throw new ServiceError(0, "The gallery does not answer.");
  }
  if (!response.ok) throw await serviceError(response);
  return response.json();
}

/** @param {Response} response */
async function serviceError(response) {
  // A proxy in between may answer with something other than the service's JSON.
  const { error } = await response.json().catch(() => ({}));
  return new ServiceError(
    response.status,
    error?.message ?? `The gallery answered with status ${response.status}.`,
    Number(response.headers.get("Retry-After")) || null,
  );
}
