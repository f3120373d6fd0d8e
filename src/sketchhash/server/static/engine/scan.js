// @ts-check
/**
 * Weigh the bits in which every code of a gallery differs from a query's: by vector instructions of WebAssembly, or by
 * tables where a browser has none. Sums are whole numbers, so both give the same.
 *
 * Codes lie in blocks of 16, byte by byte: a block holds the first bytes of its codes, then their second bytes, and so
 * on. What half a byte weighs fits into a byte, and one instruction looks up 16 of them in a table of 16. The module is
 * assembled here, from its 30 instructions, so that no tool is needed to build the page.
 */

import { weighAll, weightTables } from "./ranking.js";

const BLOCK = 16;
const PAGE = 65536;
const TABLES = 32; // bytes for each byte of a code: what its upper and its lower half weigh

export class Scanner {
  #codes;
  #width;
  /** @type {((blocks: number, tables: number, sums: number, end: number, tablesEnd: number) => void) | null} */
  #scan = null;
  #memory = new Uint8Array();
  /** The weight of each code's bits that differ, as of the last query. */
  sums;

  /**
   * @param {Uint8Array} codes one after the other
   * @param {number} width bytes of a code
   * @param {boolean} isVectored whether to use vector instructions, if the browser has them
   */
  constructor(codes, width, isVectored = true) {
    const count = codes.length / width;
    this.#codes = codes;
    this.#width = width;
    this.sums = new Uint16Array(count);
    const module = new Uint8Array(assemble());
    if (!isVectored || count === 0 || !WebAssembly.validate(module)) return;
    const blocks = Math.ceil(count / BLOCK);
    const size = this.#tables + width * TABLES + blocks * BLOCK * 2;
    const memory = new WebAssembly.Memory({ initial: Math.ceil(size / PAGE) });
    const instance = new WebAssembly.Instance(new WebAssembly.Module(module), { m: { m: memory } });
    this.#scan = /** @type {any} */ (instance.exports.f);
    this.#memory = new Uint8Array(memory.buffer);
    this.sums = new Uint16Array(memory.buffer, this.#tables + width * TABLES, count);
    for (let row = 0, at = 0; row < count; row++) {
      const start = Math.floor(row / BLOCK) * BLOCK * width + (row % BLOCK);
      for (let place = 0; place < width; place++) this.#memory[start + place * BLOCK] = codes[at++];
    }
  }

  /**
   * Fill `sums` for a query.
   * @param {Uint8Array} code
   * @param {Uint8Array} weights of its bits
   */
  weigh(code, weights) {
    if (!this.#scan) return weighAll(this.#codes, weightTables(code, weights), this.sums);
    const start = this.#tables;
    for (let place = 0; place < this.#width; place++) {
      for (let half = 0; half < BLOCK; half++) {
        const at = start + place * TABLES + half;
        this.#memory[at] = differing(weights, place * 8 + 4, (code[place] & 15) ^ half);
        this.#memory[at + BLOCK] = differing(weights, place * 8, (code[place] >> 4) ^ half);
      }
    }
    const end = start + this.#width * TABLES;
    return this.#scan(0, start, end, start, end);
  }

  /** Where the tables begin: after the blocks. */
  get #tables() {
    return Math.ceil(this.#codes.length / this.#width / BLOCK) * BLOCK * this.#width;
  }
}

/**
 * Weigh the bits of half a byte that differ.
 * @param {Uint8Array} weights
 * @param {number} first the number of its highest bit
 * @param {number} bits
 */
function differing(weights, first, bits) {
  let sum = 0;
  for (let bit = 0; bit < 4; bit++) if (bits & (8 >> bit)) sum += weights[first + bit];
  return sum;
}

/** Return the module: it imports its memory, and exports one function of five whole numbers. */
function assemble() {
  const [blocks, tables, sums, end, tablesEnd, table, codes, lower, upper, low, high] = Array(11).keys();
  const [I32, V128, EMPTY] = [0x7f, 0x7b, 0x40];
  const get = (/** @type {number} */ local) => [0x20, local];
  const set = (/** @type {number} */ local) => [0x21, local];
  const vector = (/** @type {number[]} */ ...operation) => [0xfd, ...operation];
  const load = (/** @type {number} */ offset) => vector(0x00, 0, offset);
  const store = (/** @type {number} */ offset) => vector(0x0b, 0, offset);
  const zero = vector(0x0c, ...Array(16).fill(0));
  const fifteens = vector(0x0c, ...Array(16).fill(15));
  const [lookUp, and, shiftRight, add] = [vector(0x0e), vector(0x4e), vector(0x6d), vector(0x8e, 1)];
  const [widenLow, widenHigh] = [vector(0x89, 1), vector(0x8a, 1)];
  const advance = (/** @type {number} */ local, /** @type {number} */ by) => [...get(local), 0x41, by, 0x6a, ...set(local)];
  const again = (/** @type {number} */ local, /** @type {number} */ limit) => [...get(local), ...get(limit), 0x49, 0x0d, 0];
  const sum = (/** @type {number} */ total, /** @type {number[]} */ widen) => [
    ...[...get(total), ...get(lower), ...widen, ...add, ...get(upper), ...widen, ...add],
    ...set(total),
  ];
  const loop = (/** @type {number[][]} */ ...body) => [0x03, EMPTY, ...body.flat(), 0x0b];
  const body = [
    ...[3, 1, I32, 3, V128, 2, V128], // locals: a table, three vectors of bytes, two of sums
    ...loop(
      [...zero, ...set(low), ...zero, ...set(high), ...get(tables), ...set(table)],
      loop(
        [...get(blocks), ...load(0), ...set(codes)],
        [...get(table), ...load(0), ...get(codes), ...fifteens, ...and, ...lookUp, ...set(lower)],
        [...get(table), ...load(16), ...get(codes), 0x41, 4, ...shiftRight, ...lookUp, ...set(upper)],
        sum(low, widenLow),
        sum(high, widenHigh),
        advance(blocks, 16),
        advance(table, 32),
        again(table, tablesEnd),
      ),
      [...get(sums), ...get(low), ...store(0), ...get(sums), ...get(high), ...store(16)],
      advance(sums, 32),
      again(blocks, end),
    ),
    0x0b,
  ];
  const section = (/** @type {number} */ id, /** @type {number[]} */ content) => [id, ...leb(content.length), ...content];
  return [
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 5, I32, I32, I32, I32, I32, 0]),
    ...section(2, [1, 1, 0x6d, 1, 0x6d, 2, 0, 1]), // the memory "m" of "m"
    ...section(3, [1, 0]),
    ...section(7, [1, 1, 0x66, 0, 0]), // the function "f"
    ...section(10, [1, ...leb(body.length), ...body]),
  ];
}

/** Encode a size as WebAssembly does. @param {number} size @returns {number[]} */
function leb(size) {
  return size < 128 ? [size] : [(size & 127) | 128, ...leb(size >> 7)];
}
