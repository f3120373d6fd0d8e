// @ts-check
/**
 * The token of a guarded gallery. It arrives once in the address, after the `#`, a part that browsers do not send.
 * It opens a session, whose cookie lets thumbnails through, and is sent with every call.
 */

import { byId } from "./dom.js";

const STORED_AS = "sketchhash.token";

/** Return the headers that prove the token. @returns {Record<string, string>} */
export function authorisation() {
  const token = sessionStorage.getItem(STORED_AS);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** Move the token from the address into storage, and open a session if a token is stored. */
export async function enter() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    sessionStorage.setItem(STORED_AS, token);
    history.replaceState(null, "", location.pathname + location.search);
  }
  if (sessionStorage.getItem(STORED_AS)) await openSession();
}

/**
 * Show a dialog that asks for a token until one is accepted.
 * @param {() => void} entered called when the session is open
 */
export function askForToken(entered) {
  const dialog = byId("access", HTMLDialogElement);
  const field = byId("access-token", HTMLInputElement);
  const refusal = byId("access-refusal", HTMLElement);
  if (dialog.open) return;

  dialog.onsubmit = async (event) => {
    event.preventDefault();
    sessionStorage.setItem(STORED_AS, field.value.trim());
    const isAccepted = await openSession();
    refusal.hidden = isAccepted;
    if (isAccepted) {
      dialog.close();
      entered();
    } else {
      sessionStorage.removeItem(STORED_AS);
      field.select();
    }
  };
  dialog.showModal();
}

/** Return whether the service accepts the token; one that cannot be reached does not, and the first search reports it. */
async function openSession() {
  try {
    return (await fetch("api/session", { method: "POST", headers: authorisation() })).ok;
  } catch {
    return false;
  }
}
