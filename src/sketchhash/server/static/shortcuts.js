// @ts-check
/** Keyboard shortcuts: one table defines them and their help. */

import { make } from "./dom.js";

/**
 * A shortcut without `run` is handled elsewhere, and only listed in the help.
 * @typedef {{ keys: string[], does: string, run?: () => void }} Shortcut
 */

/**
 * Run shortcuts when their keys are pressed, and list them in `help`.
 * @param {Shortcut[]} shortcuts
 * @param {HTMLElement} help
 */
export function listenForShortcuts(shortcuts, help) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || handlesKeys(event.target)) return;
    const pressed = keyName(event);
    const shortcut = shortcuts.find(({ keys, run }) => run && keys.includes(pressed));
    // Named keys keep their other effects, such as Escape, which closes a popover. A letter must not be typed into the
    // field that its shortcut leads to.
    if (shortcut && (pressed.startsWith("Ctrl+") || pressed.length === 1)) event.preventDefault();
    shortcut?.run?.();
  });

  help.replaceChildren(
    ...shortcuts.map(({ keys, does }) =>
      make("div", {}, make("dt", {}, ...keys.map((key) => make("kbd", {}, key))), make("dd", {}, does)),
    ),
  );
}

/**
 * Whether an element handles keys itself, as text fields and dialogs do; a slider takes arrows only, which are no
 * shortcuts.
 * @param {EventTarget | null} target
 */
function handlesKeys(target) {
  if (!(target instanceof Element)) return false;
  return target.matches("input:not([type=radio], [type=file], [type=range]), select, textarea") || target.closest("dialog[open]") !== null;
}

/** @param {KeyboardEvent} event */
function keyName(event) {
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  if (!event.ctrlKey && !event.metaKey) return key;
  return event.shiftKey ? `Ctrl+Shift+${key}` : `Ctrl+${key}`;
}
