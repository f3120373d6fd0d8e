/** Strokes as they were drawn, each a list of points `[x, y]`, on a sheet 512 wide. */
export type Strokes = readonly (readonly (readonly number[])[])[];

/** Something that was found. */
export interface Hit {
  /** Stays the same as long as the picture does. */
  readonly id: number;
  /** The name of the file, and its folder below the one that all share. */
  readonly name: string;
  readonly folder: string;
  readonly label: string | null;
  readonly kind: "photo" | "drawing";
  /** How many bits of its code differ from the drawing's. */
  readonly distance: number;
  /** The calibrated chance that it shows what was drawn; null if the model has no calibration. */
  readonly chance: number | null;
  /** Whether it belongs to the good matches, which come first. */
  readonly likely: boolean;
  /** When it was taken, by the camera's clock. */
  readonly taken_at: string | null;
  /** The id of an earlier hit that it is a copy of. */
  readonly copy_of: number | null;
  /** How many other photos of the gallery are copies of it; null for a copy, and if the site does not say. */
  readonly copies: number | null;
  /** The address of the picture itself, if the site says where the originals are. */
  readonly original: string | null;
}

/** What a drawing has found, best first, and how sure that is. */
export interface Answer {
  readonly hits: readonly Hit[];
  readonly verdict: "sure" | "unsure" | "unknown";
  readonly chance: number | null;
  readonly guesses: readonly { readonly category: string; readonly chance: number }[];
}

export interface SketchSearchEventMap {
  /** After every search, and with no hits when the sheet is empty. */
  hits: CustomEvent<Answer>;
  /** A hit was chosen. */
  select: CustomEvent<Hit>;
  /** The gallery cannot be reached; the detail says why. */
  problem: CustomEvent<string>;
}

/**
 * `<sketch-search src="https://example.org/gallery/" count="12">`
 *
 * CSS parts: `sheet`, `tools`, `undo`, `clear`, `status`, `hits`, `hit`, `image`, `name`.
 */
export class SketchSearch extends HTMLElement {
  /** The address of the folder that `sketchhash gallery site` wrote. */
  src: string;
  /** How many hits are shown. */
  count: number;
  /** What is drawn; set it to search by other strokes. */
  get strokes(): Strokes;
  set strokes(strokes: Strokes);
  undo(): void;
  clear(): void;
  addEventListener<Name extends keyof SketchSearchEventMap>(
    type: Name,
    listener: (this: SketchSearch, event: SketchSearchEventMap[Name]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

declare global {
  interface HTMLElementTagNameMap {
    "sketch-search": SketchSearch;
  }
}
