// @ts-check
/**
 * The key to a guarded gallery. A token arrives once in the address, after the `#`, which browsers send to nobody.
 * It opens a session: a cookie then lets thumbnails through, and the token goes with every call.
 */

import { part } from "./dom.js";

const STORED_AS = "sketchhash.token";

/** @returns {Record<string, string>} */
export function authorisation() {
  const token = sessionStorage.getItem(STORED_AS);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** Take the token out of the address, if there is one, and open a session with a token kept from before. */
export async function enter() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    sessionStorage.setItem(STORED_AS, token);
    history.replaceState(null, "", location.pathname + location.search);
  }
  if (sessionStorage.getItem(STORED_AS)) await openSession();
}

/**
 * Ask for a token until one fits.
 * @param {() => void} entered
 */
export function askForToken(entered) {
  const dialog = part("access", HTMLDialogElement);
  const field = part("access-token", HTMLInputElement);
  const refusal = part("access-refusal", HTMLElement);
  if (dialog.open) return;

  dialog.onsubmit = async (event) => {
    event.preventDefault();
    sessionStorage.setItem(STORED_AS, field.value.trim());
    const fits = await openSession();
    refusal.hidden = fits;
    if (fits) {
      dialog.close();
      entered();
    } else {
      sessionStorage.removeItem(STORED_AS);
      field.select();
    }
  };
  dialog.showModal();
}

/** A service that cannot be reached is not a refusal: the first search will tell. */
async function openSession() {
  try {
    return (await fetch("api/session", { method: "POST", headers: authorisation() })).ok;
  } catch {
    return false;
  }
}
