// @ts-check
/** The browser's Back closes an open dialog, as people on phones expect. */

/** Whether a step is being taken back because its dialog was closed in another way. */
let isReturning = false;

/** @type {WeakSet<HTMLDialogElement>} */
const watched = new WeakSet();

/** Open a dialog as a step of history; closing it in another way takes the step back. @param {HTMLDialogElement} dialog */
export function openDialog(dialog) {
  dialog.showModal();
  if (!isReturning && history.state?.dialog !== dialog.id) remember(dialog);
  if (watched.has(dialog)) return;
  watched.add(dialog);
  dialog.addEventListener("close", () => takeBack(dialog));
}

/** @param {HTMLDialogElement} dialog */
function remember(dialog) {
  history.pushState({ dialog: dialog.id }, "");
}

/** @param {HTMLDialogElement} dialog */
function takeBack(dialog) {
  // Browsers tell of a dialog's end later: it may be open again, on the same step.
  if (dialog.open || history.state?.dialog !== dialog.id) return;
  isReturning = true;
  history.back();
}

addEventListener("popstate", () => {
  const open = document.querySelector("dialog[open]:not(#access)");
  if (open instanceof HTMLDialogElement) {
    // Opened while the step of another was taken back, it gets its own step now.
    if (isReturning) remember(open);
    else open.close();
  }
  isReturning = false;
});

// The page was loaded again while a dialog was open.
if (history.state?.dialog) history.back();
