// @ts-check
/**
 * The shape of a drawing, and how well photos fit it: `sketchhash/tokens/shape.py` for the browser, with the same
 * operations in the same order. `fround` rounds to single precision where NumPy computes with it.
 */

const { abs, fround, max, min } = Math;

export const SHAPE_BYTES = 512;
const CELLS = 8;
const ORIENTATIONS = 8;
const GRID = CELLS * CELLS * ORIENTATIONS;
const FAINTEST_INK = 0.3;
const UNIT = fround(0.4 / 15 ** 2);
const SIGMA = 2;

/** @typedef {{ row: number, column: number, strength: number, angle: number }} Ridge */

/** What a drawing looks for in the two grids of a photo. */
export class ShapeQuery {
  #wanted;

  /**
   * @param {Uint8Array} ink a square, paper 255
   * @param {Int8Array} metric `GRID` rows of `2 * GRID` weights
   * @param {number} unit of the weights
   */
  constructor(ink, metric, unit) {
    const grid = inkGrid(ink);
    const sums = new Float64Array(2 * GRID);
    for (let row = 0; row < GRID; row++) {
      const value = grid[row];
      if (value === 0) continue;
      for (let column = 0, at = row * 2 * GRID; column < 2 * GRID; column++) sums[column] += value * metric[at++];
    }
    this.#wanted = Float32Array.from(sums, (sum) => sum * unit);
  }

  /** Score a photo's shape: greater for a better fit. @param {Uint8Array} shape `SHAPE_BYTES` long */
  score(shape) {
    const wanted = this.#wanted;
    let sum = 0;
    for (let place = 0; place < GRID; place++) {
      const whole = shape[place] & 15;
      const box = shape[place] >> 4;
      sum += whole * whole * wanted[place] + box * box * wanted[GRID + place];
    }
    return fround(UNIT * sum);
  }
}

/** @param {Uint8Array} ink */
function inkGrid(ink) {
  const darkness = new Float32Array(ink.length);
  for (let place = 0; place < ink.length; place++) darkness[place] = (255 - ink[place]) / 255;
  return orientationGrid(findRidges(darkness, Math.sqrt(ink.length)));
}

/**
 * Find the pixels on ridges that reach a share of the highest score.
 * @param {Float32Array} scores
 * @param {number} side
 */
function findRidges(scores, side) {
  const faintest = fround(FAINTEST_INK * scores.reduce((a, b) => max(a, b), 0));
  const smooth = blur(scores, side);
  const last = side - 1;
  const alongX = (/** @type {number} */ row, /** @type {number} */ column) =>
    fround(0.5 * fround(smooth[row * side + min(column + 1, last)] - smooth[row * side + max(column - 1, 0)]));
  const alongY = (/** @type {number} */ row, /** @type {number} */ column) =>
    fround(0.5 * fround(smooth[min(row + 1, last) * side + column] - smooth[max(row - 1, 0) * side + column]));
  /** @type {Ridge[]} */
  const ridges = [];
  if (faintest === 0) return ridges;
  for (let place = 0; place < scores.length; place++) {
    if (scores[place] < faintest) continue;
    const [row, column] = [Math.floor(place / side), place % side];
    const [left, right] = [max(column - 1, 0), min(column + 1, last)];
    const [above, below] = [max(row - 1, 0), min(row + 1, last)];
    const xx = fround(0.5 * fround(alongX(row, right) - alongX(row, left)));
    const xy = fround(0.5 * fround(alongX(below, column) - alongX(above, column)));
    const yy = fround(0.5 * fround(alongY(below, column) - alongY(above, column)));
    const turn = fround(fround(Math.atan2(-2 * xy, fround(yy - xx))) / 2);
    let [x, y] = [fround(Math.cos(turn)), fround(Math.sin(turn))];
    if (fround(x + fround(y / 2)) < 0) [x, y] = [-x, -y];
    const here = scores[place];
    const ahead = sample(scores, side, row, column, x, y);
    const behind = sample(scores, side, row, column, -x, -y);
    if (!(fround(fround(1.01) * here) >= ahead && here > fround(fround(1.0001) * behind))) continue;
    const angle = Math.atan2(y, x);
    ridges.push({
      row: (row + 0.5 - side / 2) / side + 0.5,
      column: (column + 0.5 - side / 2) / side + 0.5,
      strength: here,
      angle: angle < 0 ? angle + Math.PI : angle % Math.PI,
    });
  }
  return ridges;
}

/**
 * Read the scores at an offset of at most one pixel, interpolating bilinearly.
 * @param {Float32Array} scores
 * @param {number} side
 * @param {number} row
 * @param {number} column
 * @param {number} right
 * @param {number} down
 */
function sample(scores, side, row, column, right, down) {
  const beside = min(max(column + (right < 0 ? -1 : 1), 0), side - 1);
  const across = min(max(row + (down < 0 ? -1 : 1), 0), side - 1);
  const [x, y] = [abs(right), abs(down)];
  const near = mix(scores[row * side + column], scores[row * side + beside], x);
  const far = mix(scores[across * side + column], scores[across * side + beside], x);
  return mix(near, far, y);
}

/**
 * @param {number} one
 * @param {number} other
 * @param {number} share of the other
 */
function mix(one, other, share) {
  return fround(fround(fround(1 - share) * one) + fround(share * other));
}

/**
 * Smooth a square picture with a Gaussian, along x and then along y; it is mirrored at its border.
 * @param {Float32Array} picture
 * @param {number} side
 */
function blur(picture, side) {
  const reach = Math.ceil(2.5 * SIGMA);
  const profile = Array.from({ length: reach + 1 }, (_, away) => Math.exp(-0.5 * (away / SIGMA) ** 2));
  const total = profile[0] + 2 * profile.slice(1).reduce((a, b) => a + b);
  const weights = Float32Array.from(profile, (weight) => weight / total);
  return smoothAlong(smoothAlong(picture, weights, side, side, 1), weights, side, 1, side);
}

/**
 * Smooth the lines of a square picture.
 * @param {Float32Array} picture
 * @param {Float32Array} weights from the middle outwards
 * @param {number} side
 * @param {number} across how far the starts of two lines are apart
 * @param {number} forth how far the pixels of a line are apart
 */
function smoothAlong(picture, weights, side, across, forth) {
  const reach = weights.length - 1;
  const line = new Float32Array(side + 2 * reach);
  const smooth = new Float32Array(picture.length);
  for (let start = 0; start < side * across; start += across) {
    for (let place = -reach; place < side + reach; place++) {
      const mirrored = place < 0 ? -place - 1 : place >= side ? 2 * side - 1 - place : place;
      line[place + reach] = picture[start + mirrored * forth];
    }
    for (let place = 0; place < side; place++) {
      const middle = place + reach;
      let sum = fround(line[middle] * weights[0]);
      for (let step = 1; step <= reach; step++) {
        sum = fround(sum + fround(fround(line[middle - step] + line[middle + step]) * weights[step]));
      }
      smooth[start + place * forth] = sum;
    }
  }
  return smooth;
}

/**
 * Count ridges by place and orientation, each shared among the nearest cells: of length 1, if there are any.
 * @param {Ridge[]} ridges
 */
function orientationGrid(ridges) {
  const side = CELLS + 3; // a frame of cells around the square takes what is outside
  const framed = new Float64Array(side * side * ORIENTATIONS);
  const shared = ridges.map(({ row, column, strength, angle }) => {
    const place = [row, column].map((at) => min(max(at * CELLS - 0.5, -1), CELLS));
    const turn = (angle / Math.PI) * ORIENTATIONS;
    const [down, right, bin] = [Math.floor(place[0]), Math.floor(place[1]), Math.floor(turn)];
    return { down, right, bin, pastDown: place[0] - down, pastRight: place[1] - right, pastBin: turn - bin, strength };
  });
  for (const moreDown of [0, 1]) {
    for (const moreRight of [0, 1]) {
      for (const on of [0, 1]) {
        const counted = new Float64Array(framed.length);
        for (const each of shared) {
          const cell = (each.down + moreDown + 1) * side + each.right + moreRight + 1;
          const share =
            each.strength * abs(1 - moreDown - each.pastDown) * abs(1 - moreRight - each.pastRight);
          counted[cell * ORIENTATIONS + ((each.bin + on) % ORIENTATIONS)] += share * abs(1 - on - each.pastBin);
        }
        counted.forEach((count, number) => (framed[number] += count));
      }
    }
  }
  const grid = new Float64Array(GRID);
  for (let row = 0; row < CELLS; row++) {
    const start = ((row + 1) * side + 1) * ORIENTATIONS;
    grid.set(framed.subarray(start, start + CELLS * ORIENTATIONS), row * CELLS * ORIENTATIONS);
  }
  const length = max(Math.sqrt(grid.reduce((sum, value) => sum + value * value, 0)), 1e-12);
  return Float32Array.from(grid, (value) => value / length);
}
