// @ts-check
/** What is searched for instead of the drawing, laid over the sheet: a picture, or a photo of the gallery. */

import { thumbnailAddress } from "./api.js";
import { part } from "./dom.js";

/** @typedef {import("./api.js").PictureKind} PictureKind */
/** @typedef {Exclude<import("./api.js").Question, { by: "drawing" }>} SubjectQuestion */

/** Tells with a `change` event when it is looked at as another kind of picture, or put away. */
export class Subject extends EventTarget {
  #card = part("subject", HTMLElement);
  #image = part("subject-image", HTMLImageElement);
  #caption = part("subject-caption", HTMLElement);
  #kinds = part("subject-kinds", HTMLFieldSetElement);
  #close = part("subject-close", HTMLButtonElement);
  /** @type {SubjectQuestion | null} */
  #question = null;

  constructor() {
    super();
    this.#close.addEventListener("click", () => this.putAway());
    this.#kinds.addEventListener("change", () => {
      if (this.#question?.by !== "picture") return;
      this.#question = { ...this.#question, kind: this.#kind };
      this.dispatchEvent(new Event("change"));
    });
  }

  get question() {
    return this.#question;
  }

  /** @param {File} picture */
  showPicture(picture) {
    this.#show({ by: "picture", picture, kind: this.#kind }, URL.createObjectURL(picture), picture.name);
  }

  /** @param {import("./api.js").Hit} hit */
  showPhoto(hit) {
    this.#show({ by: "photo", hit }, thumbnailAddress(hit.id), `More like ${hit.name}`);
  }

  putAway() {
    if (!this.#question) return;
    this.#question = null;
    this.#card.hidden = true;
    this.#forgetImage();
    this.dispatchEvent(new Event("change"));
  }

  /**
   * @param {SubjectQuestion} question
   * @param {string} address
   * @param {string} caption
   */
  #show(question, address, caption) {
    this.#forgetImage();
    this.#question = question;
    this.#image.src = address;
    this.#caption.textContent = caption;
    this.#kinds.hidden = question.by !== "picture";
    this.#card.hidden = false;
    this.#close.focus();
    this.dispatchEvent(new Event("change"));
  }

  /** @returns {PictureKind} */
  get #kind() {
    const chosen = this.#kinds.querySelector("input:checked");
    return chosen instanceof HTMLInputElement && chosen.value === "sketch" ? "sketch" : "photo";
  }

  #forgetImage() {
    if (this.#image.src.startsWith("blob:")) URL.revokeObjectURL(this.#image.src);
    this.#image.removeAttribute("src");
  }
}

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
