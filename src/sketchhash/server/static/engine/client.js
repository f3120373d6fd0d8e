// @ts-check
/** Ask the engine: in a thread of its own where browsers allow it, which they do for files of the page's own site. */

/** @typedef {import("./engine.js").Engine} Engine */
/** @typedef {"search" | "warmUp" | "thumbnail" | "details" | "copies" | "meanings" | "svg" | "folders" | "read"} Method */

/**
 * Return a function that asks the engine of a gallery; the first question opens it.
 * @param {string} place the address of the gallery's files, with a slash at its end
 * @returns {<Name extends Method>(method: Name, ...values: Parameters<Engine[Name]>) => Promise<Awaited<ReturnType<Engine[Name]>>>}
 */
export function connect(place) {
  return new URL(import.meta.url).origin === location.origin ? inWorker(place) : inPage(place);
}

/** @param {string} place */
function inWorker(place) {
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  let count = 0;
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.addEventListener("message", ({ data: { number, value, problem } }) => {
    const asked = waiting.get(number);
    waiting.delete(number);
    if (problem === undefined) asked?.resolve(value);
    else asked?.reject(new Error(problem));
  });
  worker.addEventListener("error", (event) => {
    for (const { reject } of waiting.values()) reject(new Error(event.message || "The search could not be started."));
    waiting.clear();
  });
  return (/** @type {Method} */ method, /** @type {any[]} */ ...values) =>
    new Promise((resolve, reject) => {
      waiting.set(++count, { resolve, reject });
      worker.postMessage({ number: count, place, method, values });
    });
}

/** @param {string} place */
function inPage(place) {
  /** @type {Promise<any> | undefined} */
  let opening;
  return async (/** @type {Method} */ method, /** @type {any[]} */ ...values) => {
    opening ??= import("./engine.js").then(({ Engine }) => Engine.open(place));
    opening.catch(() => (opening = undefined));
    return (await opening)[method](...values);
  };
}
