// @ts-check
/** The engine as the page's back end: the page of a static site. */

import { ServiceError } from "../api.js";
import { connect } from "./client.js";
import { readSite } from "./engine.js";
import { findCategories } from "./words.js";

const KEEP_AFTER_MS = 3000;
/** Names of drawings that a word means, before the categories. */
const MOST_NAMES = 3;

/**
 * Return a back end that reads the gallery at a place relative to the page.
 * @param {string} place
 * @returns {import("../api.js").BackEnd}
 */
export function openLocal(place) {
  const address = new URL(place, document.baseURI).href;
  const ask = connect(address);
  /** @type {import("./engine.js").Site | null} */
  let site = null;
  /** @type {Map<number, Promise<string>>} */
  const thumbnails = new Map();

  const describe = async () => (site ??= await unlessAway(readSite(address)));

  return {
    canReadPictures: false,
    async start() {
      // What is kept offline is fetched when nobody waits for the engine, or for the first hits, any more.
      void ask("warmUp").then(() => setTimeout(keepOffline, KEEP_AFTER_MS), () => null);
    },
    async search(query, filters, signal) {
      if (query.by === "picture") throw new ServiceError(422, "This gallery is searched by drawings.");
      const asked = query.by === "photo" ? { by: query.by, id: query.hit.id } : query;
      const answer = await unlessAway(ask("search", asked, filters));
      signal.throwIfAborted();
      return answer;
    },
    gallery: async () => (await describe()).gallery,
    async categories(word) {
      const { categories } = (await describe()).gallery.model;
      const known = findCategories(word, categories, await ask("read", "words.json.gz"));
      const drawn = await unlessAway(ask("meanings", word, MOST_NAMES));
      return [...new Set([...drawn, ...known])].map((category) => ({ category }));
    },
    examples: () => ask("read", "examples.json.gz"),
    addresses: async () => [],
    folders: (below) => ask("folders", below),
    map: () => ask("read", "map.json.gz"),
    details: (id) => unlessAway(ask("details", id)),
    copies: (id) => unlessAway(ask("copies", id)),
    svg: async (id) => ({ svg: await ask("svg", id) }),
    thumbnail(id) {
      let address = thumbnails.get(id);
      if (!address) {
        address = ask("thumbnail", id).then((picture) => URL.createObjectURL(picture));
        thumbnails.set(id, address);
        address.catch(() => thumbnails.delete(id));
      }
      return address;
    },
    original({ folder, name }) {
      if (!site?.originals) return null;
      const path = [...folder.split("/"), name].filter(Boolean).map(encodeURIComponent).join("/");
      return new URL(path, new URL(site.originals, document.baseURI)).href;
    },
  };
}

/**
 * Wait for an answer; what cannot be fetched may be there later.
 * @template Value
 * @param {Promise<Value>} answer
 * @returns {Promise<Value>}
 */
async function unlessAway(answer) {
  try {
    return await answer;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ServiceError(navigator.onLine ? 500 : 0, message);
  }
}

/** Let the service worker keep the site for when there is no network. */
async function keepOffline() {
  // Only pages from this machine or over TLS have any; a page that cannot be kept works all the same.
  await navigator.serviceWorker?.register("service-worker.js").catch(() => null);
}
