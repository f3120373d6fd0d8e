// @ts-check
/** The service as the page's back end. Paths are relative, so that the page works behind any prefix. */

import { authorisation, enter } from "./access.js";
import { ServiceError } from "./api.js";

/** @type {import("./api.js").BackEnd} */
export const service = {
  canReadPictures: true,
  start: enter,
  search,
  gallery,
  categories: (word) => call(`api/categories?${new URLSearchParams({ word })}`),
  examples: () => call("api/examples"),
  addresses: () => call("api/addresses"),
  folders: (below) => call(`api/gallery/folders?${new URLSearchParams({ below })}`),
  map: () => call("api/gallery/map"),
  details: (id, signal) => call(`api/photos/${id}/details`, { signal }),
  copies: (id) => call(`api/photos/${id}/copies`),
  thumbnail: async (id) => `api/photos/${id}/thumbnail?v=${edition}`,
  original: ({ id }) => `api/photos/${id}?v=${edition}`,
  svg: (id, signal) => call(`api/photos/${id}/svg`, { signal }),
};

/**
 * Search by a drawing, a picture, a photo of the gallery or a kind of thing.
 * @param {import("./api.js").Query} query
 * @param {import("./api.js").Filters} filters
 * @param {AbortSignal} signal
 * @returns {Promise<import("./api.js").Answer>}
 */
function search(query, filters, signal) {
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

async function gallery() {
  const gallery = await call("api/gallery");
  edition = gallery.edition;
  return gallery;
}

/**
 * Return the filters that are set.
 * @param {import("./api.js").Filters} filters
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
