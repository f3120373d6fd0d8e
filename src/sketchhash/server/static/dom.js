// @ts-check
/** Finding and making the parts of the page. */

/**
 * Find a part of the page by its id, as the type it is.
 * @template {Element} Part
 * @param {string} id
 * @param {new () => Part} type
 * @returns {Part}
 */
export function part(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no ${type.name} #${id}.`);
  return found;
}

/**
 * Make an element; text and elements become its content.
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
 * Fill a description list with terms and what they are.
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
