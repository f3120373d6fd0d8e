// @ts-check
/**
 * The order of photos: how much the bits weigh in which their codes differ from a query's, equal ones by id; among
 * photos of nearly equal codes, how well they fit the drawing's shape. It is that of `sketchhash/index/weighing.py` and
 * `sketchhash/index/reranking.py`; weights are whole numbers, so every sum is exact.
 */

import { roundToEven } from "./ink.js";

const HEAVIEST = 63;
const NEARLY_EQUAL = 32;
const GROUPS = 12;
const BYTES = 256;

/** How often each sum was met. */
const SUMS = new Uint32Array(1 << 16);

/** The number of bits that are set in each byte. */
const COUNTS = Uint8Array.from({ length: BYTES }, (_, byte) => [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => (byte >> bit) & 1).length);

/** Pack the signs of values: zero counts as positive, the first bit is the highest. @param {ArrayLike<number>} values */
export function pack(values) {
  const code = new Uint8Array(values.length / 8);
  for (let bit = 0; bit < values.length; bit++) if (values[bit] >= 0) code[bit >> 3] |= 128 >> (bit & 7);
  return code;
}

/** Return the signs of a packed code, 1 or -1. @param {Uint8Array} code */
export function unpack(code) {
  const signs = new Float64Array(code.length * 8);
  for (let bit = 0; bit < signs.length; bit++) signs[bit] = code[bit >> 3] & (128 >> (bit & 7)) ? 1 : -1;
  return signs;
}

/** Return how much each bit counts: the largest value weighs 63. @param {ArrayLike<number>} values */
export function weigh(values) {
  const sizes = Float64Array.from(values, Math.abs);
  const largest = sizes.reduce((a, b) => Math.max(a, b), 0);
  return Uint8Array.from(sizes, (size) => (largest > 0 ? roundToEven(HEAVIEST * (size / largest)) : 0));
}

/**
 * Return what each byte that may be met differs by from a query's, in weight: 256 numbers for each byte of a code.
 * @param {Uint8Array} code
 * @param {Uint8Array} weights
 */
export function weightTables(code, weights) {
  const tables = new Uint16Array(code.length * BYTES);
  for (let place = 0; place < code.length; place++) {
    for (let byte = 0; byte < BYTES; byte++) {
      let sum = 0;
      for (let bit = 0; bit < 8; bit++) if ((code[place] ^ byte) & (128 >> bit)) sum += weights[place * 8 + bit];
      tables[place * BYTES + byte] = sum;
    }
  }
  return tables;
}

/**
 * Weigh the bits in which codes, one after the other, differ from a query's.
 * @param {Uint8Array} codes
 * @param {Uint16Array} tables
 * @param {Uint16Array} sums is filled, one number for each code
 */
export function weighAll(codes, tables, sums) {
  const width = tables.length / BYTES;
  for (let row = 0, at = 0; row < sums.length; row++) {
    let sum = 0;
    for (let table = 0; table < width * BYTES; table += BYTES) sum += tables[table + codes[at++]];
    sums[row] = sum;
  }
}

/**
 * Return the rows of the `k` smallest sums, in the order of (sum, id).
 * @param {Uint16Array} sums
 * @param {Float64Array} ids
 * @param {number} k
 * @param {Uint32Array | null} among rows in any order, or null for all
 */
export function smallest(sums, ids, k, among) {
  const chosen = among ? Uint16Array.from(among, (row) => sums[row]) : sums;
  const count = chosen.length;
  SUMS.fill(0);
  for (let place = 0; place < count; place++) SUMS[chosen[place]]++;
  let limit = 0;
  for (let seen = SUMS[0]; seen < Math.min(k, count); seen += SUMS[++limit]);
  /** @type {number[]} */
  const rows = [];
  for (let place = 0; place < count; place++) if (chosen[place] <= limit) rows.push(among ? among[place] : place);
  return rows.sort((a, b) => sums[a] - sums[b] || ids[a] - ids[b]).slice(0, k);
}

/**
 * Count the bits in which the code of a row differs from another.
 * @param {Uint8Array} codes
 * @param {number} row
 * @param {Uint8Array} other
 */
export function distance(codes, row, other) {
  let bits = 0;
  for (let place = 0, at = row * other.length; place < other.length; place++) bits += COUNTS[codes[at++] ^ other[place]];
  return bits;
}

/**
 * Number rows, which are in the order of their sums, by group: those of a group have nearly equal codes.
 * @param {readonly number[]} rows
 * @param {Uint8Array} codes
 * @param {number} width bytes of a code
 * @param {Uint16Array} sums by row
 */
export function groupsOf(rows, codes, width, sums) {
  /** @type {number[]} */
  const groups = new Array(rows.length).fill(0);
  const radius = Math.floor((8 * width) / NEARLY_EQUAL);
  let rest = rows.map((_, place) => place);
  for (let group = 0; group < GROUPS && rest.length; group++) {
    const first = rows[rest[0]];
    const code = codes.subarray(first * width, (first + 1) * width);
    rest = rest.filter((place) => {
      if (distance(codes, rows[place], code) > radius) return true;
      groups[place] = group;
      return false;
    });
  }
  // The others are ordered by shape only if their codes agree equally well.
  for (const place of rest) groups[place] = GROUPS + sums[rows[place]];
  return groups;
}

/**
 * Order rows by group, and within a group by how well they fit a shape.
 * @param {readonly number[]} rows
 * @param {readonly number[]} groups of the rows, in their order
 * @param {readonly number[]} fits of the rows, in their order
 */
export function orderByShape(rows, groups, fits) {
  const order = rows.map((_, place) => place);
  order.sort((a, b) => groups[a] - groups[b] || fits[b] - fits[a] || a - b);
  return order.map((place) => rows[place]);
}
