// @ts-check
/** Keyboard shortcuts: one table runs them and writes their help. */

import { make } from "./dom.js";

/**
 * A shortcut without `run` is handled where it belongs, and listed here.
 * @typedef {{ keys: string[], does: string, run?: () => void }} Shortcut
 */

/**
 * @param {Shortcut[]} shortcuts
 * @param {HTMLElement} help
 */
export function listenForShortcuts(shortcuts, help) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || isBusy(event.target)) return;
    const pressed = nameOf(event);
    const shortcut = shortcuts.find(({ keys, run }) => run && keys.includes(pressed));
    // Plain keys keep what else they do, such as Escape, which closes a popover.
    if (shortcut && pressed.startsWith("Ctrl+")) event.preventDefault();
    shortcut?.run?.();
  });

  help.replaceChildren(
    ...shortcuts.map(({ keys, does }) =>
      make("div", {}, make("dt", {}, ...keys.map((key) => make("kbd", {}, key))), make("dd", {}, does)),
    ),
  );
}

/** Letters typed into a field are letters, and a dialog has keys of its own. @param {EventTarget | null} target */
function isBusy(target) {
  if (!(target instanceof Element)) return false;
  return target.matches("input:not([type=radio], [type=file]), select, textarea") || target.closest("dialog") !== null;
}

/** @param {KeyboardEvent} event */
function nameOf(event) {
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  if (!event.ctrlKey && !event.metaKey) return key;
  return event.shiftKey ? `Ctrl+Shift+${key}` : `Ctrl+${key}`;
}
