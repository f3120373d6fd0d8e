// @ts-check
/** Drawings by the words of their names and tags: `sketchhash/gallery/naming.py` for the browser. */

/**
 * Return those texts that have all words of another, or words that begin so; whole words, and few others, come first.
 * @template Thing
 * @param {string} asked
 * @param {readonly Thing[]} things in an order that decides among equals
 * @param {(thing: Thing) => string} textOf
 */
export function findByWords(asked, things, textOf) {
  const wanted = wordsOf(asked);
  if (wanted.length === 0) return [];
  return things
    .map((thing) => ({ thing, words: wordsOf(textOf(thing)) }))
    .filter(({ words }) => wanted.every((each) => words.some((word) => word.startsWith(each))))
    .map(({ thing, words }) => ({ thing, begun: wanted.filter((each) => !words.includes(each)).length, count: words.length }))
    .sort((a, b) => a.begun - b.begun || a.count - b.count)
    .map(({ thing }) => thing);
}

/** Split a text into words, in small letters. @param {string} text */
function wordsOf(text) {
  return text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}
