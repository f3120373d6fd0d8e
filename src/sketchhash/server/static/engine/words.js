// @ts-check
/** The categories that a word means: `find_categories` of `sketchhash/words/near_words.py` for the browser. */

/** Names as words, and what other words mean. @typedef {{ names: Record<string, string>, means: Record<string, string[]> }} Words */

/**
 * Return the categories that a word means, the nearest first.
 * @param {string} word
 * @param {readonly string[]} categories
 * @param {Words} words
 */
export function findCategories(word, categories, { names, means }) {
  const asked = word.toLowerCase().match(/[^\s_()\-]+/g) ?? [];
  if (asked.length === 0) return [];
  const [spelt, single] = [asked.join(" "), singular(asked).join(" ")];
  const meant = [...(means[spelt] ?? []), ...(means[single] ?? [])];
  const begun = categories.filter((category) => `${names[category]} `.startsWith(`${spelt} `));
  const inside = categories.filter((category) => begins(names[category].split(" "), asked));
  const same = categories.filter((category) => names[category] === spelt);
  const plural = categories.filter((category) => names[category] === single);
  return [...new Set([...same, ...plural, ...begun, ...meant.slice(0, 1), ...inside, ...meant])];
}

/**
 * Return whether some words of a name are those asked for; the last may be cut short.
 * @param {string[]} name
 * @param {string[]} asked
 */
function begins(name, asked) {
  return name.some(
    (_, start) =>
      start + asked.length <= name.length &&
      asked.every((word, place) =>
        place === asked.length - 1 ? name[start + place].startsWith(word) : name[start + place] === word,
      ),
  );
}

/** @param {string[]} words */
function singular(words) {
  const last = words[words.length - 1];
  const single = last.endsWith("ies") ? `${last.slice(0, -3)}y` : last.endsWith("s") ? last.slice(0, -1) : last;
  return [...words.slice(0, -1), single];
}
