// @ts-check
/** Just enough Markdown for a model card: headings, paragraphs, lists, tables, bold and code. */

import { make } from "./dom.js";

/**
 * Build elements, never HTML from text: a card may come from anywhere.
 * @param {string} text
 * @returns {HTMLElement[]}
 */
export function renderMarkdown(text) {
  return text
    .split(/\n\s*\n|(?<=^#+ .*)\n/m)
    .map((block) => block.trim())
    .filter(Boolean)
    .map(renderBlock);
}

/** @param {string} block */
function renderBlock(block) {
  const lines = block.split("\n");
  if (block.startsWith("#")) return make("h4", {}, ...inline(block.replace(/^#+\s*/, "")));
  if (block.startsWith("|")) return renderTable(lines);
  if (/^[-*] /.test(block)) {
    const items = block.split(/\n[-*] /).map((item) => item.replace(/^[-*] /, ""));
    return make("ul", {}, ...items.map((item) => make("li", {}, ...inline(item))));
  }
  return make("p", {}, ...inline(block));
}

/** @param {string[]} lines */
function renderTable([heading, , ...rows]) {
  const table = make("table");
  table.createTHead().append(renderRow(heading, "th"));
  table.createTBody().append(...rows.map((row) => renderRow(row, "td")));
  return make("div", { className: "table-frame", tabIndex: 0 }, table);
}

/**
 * @param {string} row
 * @param {"th" | "td"} tag
 */
function renderRow(row, tag) {
  const cells = row.replace(/^\||\|$/g, "").split(/(?<!\\)\|/);
  return make("tr", {}, ...cells.map((cell) => make(tag, {}, ...inline(cell.trim().replaceAll("\\|", "|")))));
}

/** @param {string} text */
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((piece) => {
    if (/^`.+`$/s.test(piece)) return make("code", {}, piece.slice(1, -1));
    if (/^\*\*.+\*\*$/s.test(piece)) return make("strong", {}, piece.slice(2, -2));
    return piece;
  });
}
