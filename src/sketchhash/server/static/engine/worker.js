// @ts-check
/** The engine in a thread of its own, so that drawing never waits for a search. */

import { Engine } from "./engine.js";

/** @type {Promise<Engine> | undefined} */
let opening;

addEventListener("message", async ({ data: { number, place, method, values } }) => {
  try {
    opening ??= Engine.open(place);
    opening.catch(() => (opening = undefined)); // the network may be back the next time
    const engine = /** @type {any} */ (await opening);
    postMessage({ number, value: await engine[method](...values) });
  } catch (error) {
    postMessage({ number, problem: error instanceof Error ? error.message : String(error) });
  }
});
