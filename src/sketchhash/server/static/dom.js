// @ts-check
/** Elements of the page, and numbers, sizes and times as people read them. */

/**
 * Return the element with an id; throw if it is missing or of another type.
 * @template {Element} Type
 * @param {string} id
 * @param {new () => Type} type
 * @returns {Type}
 */
export function byId(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no ${type.name} #${id}.`);
  return found;
}

/**
 * Create an element; text and elements become its content.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]>} properties
 * @param {(Node | string)[]} content
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, properties = {}, ...content) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...content);
  return element;
}

/**
 * Fill a description list with terms and their descriptions.
 * @param {HTMLElement} list
 * @param {[term: string, description: string][]} rows
 */
export function describe(list, rows) {
  list.replaceChildren(
    ...rows.map(([term, description]) =>
      make("div", {}, make("dt", { textContent: term }), make("dd", { textContent: description })),
    ),
  );
}

/** @param {number} count */
export function asCount(count) {
  return count.toLocaleString("en");
}

/**
 * @param {number} count
 * @param {string} thing
 */
export function counted(count, thing) {
  return `${asCount(count)} ${thing}${count === 1 ? "" : "s"}`;
}

/**
 * Say what some pictures are: "photos", "drawings" such as icons, or both.
 * @param {number} all
 * @param {number} drawings how many of them
 */
export function kindsOf(all, drawings) {
  if (!drawings) return "photos";
  return drawings === all ? "drawings" : "photos and drawings";
}

/**
 * Count the pictures of a gallery by what they are: "120 photos and 30 drawings".
 * @param {{ photos: number, drawings: number }} gallery whose photos are all pictures, drawings among them
 */
export function countedKinds({ photos, drawings }) {
  const others = photos - drawings;
  const counts = [others || !drawings ? counted(others, "photo") : "", drawings ? counted(drawings, "drawing") : ""];
  return counts.filter(Boolean).join(" and ");
}

/** @param {number} bytes */
export function asSize(bytes) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${(bytes / 1000 ** power).toLocaleString("en", { maximumFractionDigits: power ? 1 : 0 })} ${units[power]}`;
}

/** @param {string} time ISO 8601 */
export function asDate(time) {
  return new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** @param {number} milliseconds */
export function asDuration(milliseconds) {
  return `${milliseconds.toLocaleString("en", { maximumFractionDigits: milliseconds < 10 ? 1 : 0 })} ms`;
}
