// @ts-check
/** The browser's Back closes an open dialog, as people on phones expect. */

/** Open a dialog as a step of history; closing it in another way takes the step back. @param {HTMLDialogElement} dialog */
export function openDialog(dialog) {
  dialog.showModal();
  history.pushState({ dialog: dialog.id }, "");
  const takeBack = () => {
    if (history.state?.dialog === dialog.id) history.back();
  };
  dialog.addEventListener("close", takeBack, { once: true });
}

addEventListener("popstate", () => {
  for (const dialog of document.querySelectorAll("dialog[open]")) {
    if (dialog instanceof HTMLDialogElement && dialog.id !== "access") dialog.close();
  }
});

// The page was loaded again while a dialog was open.
if (history.state?.dialog) history.back();
