// @ts-check
/** How sure a search is, and what it sees: `sketchhash/model/calibration.py` for the browser. */

import { unpack } from "./ranking.js";

/**
 * The coefficients as the site's gallery.json holds them; the vectors are beside it.
 * @typedef {{ answer: number[], hit: number[], sure: number }} Head
 * @typedef {{ categories: string[], drawing: number[], photo: number[], heads: Record<Kind, Head>, least_ink: number }} Coefficients
 * @typedef {"sketch" | "photo" | "category"} Kind
 * @typedef {{ verdict: "sure" | "unsure" | "unknown", chance: number | null,
 *   guesses: { category: string, chance: number }[], chances: number[], likely: number }} Judgement
 */

export const JUDGED_HITS = 40;
export const FIRST_HITS = 5;
const MOST_GUESSES = 5;
const LIKELY = 0.5;
const LEAST_GUESS = 0.01;
const LEAST_ODDS = 1e-4;

/** What is said of hits without a calibration. @type {Judgement} */
export const NO_JUDGEMENT = { verdict: "unsure", chance: null, guesses: [], chances: [], likely: 0 };

export class Calibration {
  #coefficients;
  #drawn;
  #shown;

  /**
   * @param {Coefficients} coefficients
   * @param {Float32Array} vectors of what drawings of each category are like, and then of what photos are
   */
  constructor(coefficients, vectors) {
    this.#coefficients = coefficients;
    this.#drawn = Float64Array.from(vectors.subarray(0, vectors.length / 2));
    this.#shown = Float64Array.from(vectors.subarray(vectors.length / 2));
  }

  /** Return what a photo of a category typically gives, or undefined. @param {string} category */
  valuesOf(category) {
    const bits = this.#shown.length / this.#coefficients.categories.length;
    const row = this.#coefficients.categories.indexOf(category);
    return row < 0 ? undefined : this.#shown.subarray(row * bits, (row + 1) * bits);
  }

  /**
   * Judge the hits of a drawing.
   * @param {ArrayLike<number>} values
   * @param {Uint8Array[]} codes of the hits, in their order
   * @param {number} ink the share of the picture that is ink
   */
  judgeDrawing(values, codes, ink) {
    const [steepness, growth, other, otherGrowth] = this.#coefficients.drawing;
    const size = logSize(values);
    const likeness = cosines(Float64Array.from(values), this.#drawn).map((cosine) => (steepness + growth * size) * cosine);
    const guessed = openSoftmax(likeness, other + otherGrowth * size);
    return this.#judge(guessed, size, codes, "sketch", ink < this.#coefficients.least_ink);
  }

  /**
   * Judge the hits of a photo.
   * @param {Uint8Array} code
   * @param {Uint8Array[]} codes of the hits, in their order
   */
  judgePhoto(code, codes) {
    return this.#judge(this.#photoChances(code), logSize(unpack(code)), codes, "photo");
  }

  /**
   * Judge the hits of a search for a category.
   * @param {string} category
   * @param {Uint8Array[]} codes of the hits, in their order
   */
  judgeCategory(category, codes) {
    const guessed = [...this.#coefficients.categories.map((name) => (name === category ? 1 : 0)), 0];
    return this.#judge(guessed, 0, codes, "category");
  }

  /** Return the chance of each category, and last of none of them. @param {Uint8Array} code */
  #photoChances(code) {
    const [steepness, other] = this.#coefficients.photo;
    return openSoftmax(cosines(unpack(code), this.#shown).map((cosine) => steepness * cosine), other);
  }

  /**
   * @param {number[]} guessed the chance of each category, and last of none of them
   * @param {number} size
   * @param {Uint8Array[]} codes
   * @param {Kind} kind
   * @param {boolean} isBegun whether too little was drawn to call it unknown
   * @returns {Judgement}
   */
  #judge(guessed, size, codes, kind, isBegun = false) {
    const known = guessed.slice(0, -1);
    const most = known.reduce((a, b) => Math.max(a, b), 0);
    const none = guessed[known.length];
    const guesses = this.#guesses(known);
    if (codes.length === 0) return { ...NO_JUDGEMENT, verdict: isBegun ? "unsure" : "unknown", chance: 0, guesses };
    const agreement = codes.map((code) => dot(this.#photoChances(code), known));
    const head = this.#coefficients.heads[kind];
    const first = [FIRST_HITS, 2, 1].map((count) => mean(agreement.slice(0, count)));
    const chance = logistic(dot([1, ...[...first, most, none].map(logOdds), size], head.answer));
    const each = agreement.map((agrees) => logistic(dot([1, logOdds(agrees), logOdds(chance)], head.hit)));
    const chances = [...falling(each.slice(0, JUDGED_HITS)), ...each.slice(JUDGED_HITS)];
    for (let hit = 1; hit < chances.length; hit++) chances[hit] = Math.min(chances[hit], chances[hit - 1]);
    if (chance >= head.sure) {
      const likely =
        chances.filter((each) => each >= LIKELY).length ||
        Math.min(chances.filter((each) => each === chances[0]).length, FIRST_HITS);
      return { verdict: "sure", chance, guesses, chances, likely };
    }
    // Either it is like nothing that the model knows, or the model knows what it is and these photos do not show it.
    const isUnknown = !isBegun && (none >= LIKELY || (most >= LIKELY && chance < head.sure / 2));
    return { verdict: isUnknown ? "unknown" : "unsure", chance, guesses, chances, likely: 0 };
  }

  /** @param {number[]} known */
  #guesses(known) {
    return known
      .map((chance, row) => ({ category: this.#coefficients.categories[row], chance }))
      .sort((a, b) => b.chance - a.chance)
      .slice(0, MOST_GUESSES)
      .filter(({ chance }) => chance >= LEAST_GUESS);
  }
}

/**
 * Return the nearest chances that never rise: where they would, neighbours share their mean.
 * @param {number[]} chances
 */
function falling(chances) {
  /** @type {{ total: number, count: number }[]} */
  const pools = [];
  for (const chance of chances) {
    let [total, count] = [chance, 1];
    for (let last = pools.at(-1); last && last.total * count < total * last.count; last = pools.at(-1)) {
      [total, count] = [total + last.total, count + last.count];
      pools.pop();
    }
    pools.push({ total, count });
  }
  return pools.flatMap(({ total, count }) => new Array(count).fill(total / count));
}

/**
 * @param {Float64Array} values
 * @param {Float64Array} vectors of length 1, one after the other
 */
function cosines(values, vectors) {
  const bits = values.length;
  let square = 0;
  for (let bit = 0; bit < bits; bit++) square += values[bit] * values[bit];
  const length = Math.max(Math.sqrt(square), 1e-12);
  /** @type {number[]} */
  const found = [];
  for (let at = 0; at < vectors.length; ) {
    let sum = 0;
    for (let bit = 0; bit < bits; bit++) sum += values[bit] * vectors[at++];
    found.push(sum / length);
  }
  return found;
}

/** Return the logarithm of the root mean square. @param {ArrayLike<number>} values */
function logSize(values) {
  return Math.log(Math.max(Math.sqrt(mean(Array.from(values, (value) => value * value))), 1e-6));
}

/**
 * Return chances over logits and, last, of the other outcome.
 * @param {number[]} logits
 * @param {number} other
 */
function openSoftmax(logits, other) {
  const whole = [...logits, other];
  const most = whole.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = whole.map((logit) => Math.exp(logit - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/**
 * Return the sum of products; what only one of them has does not count.
 * @param {number[]} one
 * @param {number[]} other
 */
function dot(one, other) {
  let sum = 0;
  for (let place = 0; place < Math.min(one.length, other.length); place++) sum += one[place] * other[place];
  return sum;
}

/** @param {number[]} values */
function mean(values) {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

/** @param {number} odds */
function logistic(odds) {
  return 1 / (1 + Math.exp(-Math.min(Math.max(odds, -500), 500)));
}

/** @param {number} chance */
function logOdds(chance) {
  const kept = Math.min(Math.max(chance, LEAST_ODDS), 1 - LEAST_ODDS);
  return Math.log(kept / (1 - kept));
}
