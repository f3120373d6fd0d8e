// @ts-check
/** Search by a picture (chosen, dropped or pasted) or by a photo of the gallery, which then covers the sheet. */

import { backEnd } from "./backend.js";
import { byId } from "./dom.js";

/** @typedef {import("./api.js").PictureKind} PictureKind */
/** @typedef {Exclude<import("./api.js").Query, { by: "drawing" }>} PictureQuery */

/** The picture that is searched for. Dispatches a `change` event when it, or its kind, changes or it is closed. */
export class PictureCard extends EventTarget {
  #card = byId("subject", HTMLElement);
  #image = byId("subject-image", HTMLImageElement);
  #caption = byId("subject-caption", HTMLElement);
  #kinds = byId("subject-kinds", HTMLFieldSetElement);
  #closeButton = byId("subject-close", HTMLButtonElement);
  /** @type {PictureQuery | null} */
  #query = null;

  constructor() {
    super();
    this.#closeButton.addEventListener("click", () => this.close());
    this.#kinds.addEventListener("change", () => {
      if (this.#query?.by !== "picture") return;
      this.#query = { ...this.#query, kind: this.#kind };
      this.dispatchEvent(new Event("change"));
    });
  }

  get query() {
    return this.#query;
  }

  /** @param {File} picture */
  showPicture(picture) {
    this.#show({ by: "picture", picture, kind: "auto" }, picture.name);
    this.#image.src = URL.createObjectURL(picture);
  }

  /** Show what the picture was taken for; the person may know better. @param {PictureKind} kind */
  showKind(kind) {
    for (const choice of this.#kinds.querySelectorAll("input")) choice.checked = choice.value === kind;
  }

  /** @param {import("./api.js").Hit} hit */
  async showPhoto(hit) {
    const query = this.#show({ by: "photo", hit }, `More like ${hit.name}`);
    const address = await backEnd.thumbnail(hit.id).catch(() => null);
    if (address && this.#query === query) this.#image.src = address;
  }

  close() {
    if (!this.#query) return;
    this.#query = null;
    this.#card.hidden = true;
    this.#releaseImage();
    this.dispatchEvent(new Event("change"));
  }

  /**
   * @param {PictureQuery} query
   * @param {string} caption
   */
  #show(query, caption) {
    this.#releaseImage();
    this.#query = query;
    this.#caption.textContent = caption;
    this.#kinds.hidden = query.by !== "picture";
    this.#card.hidden = false;
    this.#closeButton.focus();
    this.dispatchEvent(new Event("change"));
    return query;
  }

  /** @returns {PictureKind} */
  get #kind() {
    const chosen = this.#kinds.querySelector("input:checked");
    return chosen instanceof HTMLInputElement && chosen.value === "sketch" ? "sketch" : "photo";
  }

  #releaseImage() {
    if (this.#image.src.startsWith("blob:")) URL.revokeObjectURL(this.#image.src);
    this.#image.removeAttribute("src");
  }
}

/**
 * Call `take` with every picture that is chosen, dropped onto the page or pasted.
 * @param {(picture: File) => void} take
 */
export function listenForPictures(take) {
  const chooser = byId("picture-file", HTMLInputElement);
  chooser.addEventListener("change", () => {
    takeFirst(chooser.files);
    chooser.value = ""; // so that the same file can be chosen again
  });
  byId("picture-choose", HTMLButtonElement).addEventListener("click", () => chooser.click());

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
