// @ts-check
/**
 * Keep the site for when there is no network: the page and all that a search needs at once, and packs as they are
 * looked at, or at once if they are few. A new edition waits until the pages of the old one are closed.
 */

/** Written with the site: its edition, and the files that are kept at once. */
const SITE = { edition: "", files: [""] };

const HERE = new URL("./", location.href);
const PREFIX = `sketchhash ${HERE.pathname} `; // other sites may share the host
const CACHE = PREFIX + SITE.edition;

const worker = /** @type {any} */ (self);

worker.addEventListener("install", (/** @type {any} */ event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(SITE.files)));
});

worker.addEventListener("activate", (/** @type {any} */ event) => {
  event.waitUntil(removeOthers().then(() => worker.clients.claim()));
});

worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { method, url } = event.request;
  if (method === "GET" && url.startsWith(HERE.href)) event.respondWith(answer(event.request));
});

async function removeOthers() {
  const names = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(names.map((name) => caches.delete(name)));
}

/** @param {Request} request */
async function answer(request) {
  const cache = await caches.open(CACHE);
  const isPage = request.mode === "navigate";
  const kept = await cache.match(isPage ? "./" : request, { ignoreSearch: isPage });
  if (kept) return kept;
  const response = await fetch(request);
  if (response.status === 200) await cache.put(request, response.clone());
  return response;
}
