// @ts-check
/** Pictures as questions: chosen, dropped onto the page or pasted. */

import { part } from "./dom.js";

/** @param {(picture: File) => void} take */
export function listenForPictures(take) {
  const chooser = part("picture-file", HTMLInputElement);
  chooser.addEventListener("change", () => {
    takeFirst(chooser.files);
    chooser.value = ""; // so that the same file can be chosen again
  });
  part("picture-choose", HTMLButtonElement).addEventListener("click", () => chooser.click());

  addEventListener("paste", (event) => takeFirst(event.clipboardData?.files));

  addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    document.body.classList.add("is-dropping");
  });
  addEventListener("dragleave", (event) => {
    const hasLeftThePage = event.relatedTarget === null;
    if (hasLeftThePage) document.body.classList.remove("is-dropping");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("is-dropping");
    takeFirst(event.dataTransfer?.files);
  });

  /** @param {FileList | null | undefined} files */
  function takeFirst(files) {
    const picture = [...(files ?? [])].find((file) => file.type.startsWith("image/")) ?? files?.[0];
    if (picture) take(picture);
  }
}
