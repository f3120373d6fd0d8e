// @ts-check
/**
 * Strokes as ink, pixel for pixel as `sketchhash/imaging/ink.py` draws them: the same operations on the same kinds of
 * floating-point numbers, in the same order. `fround` rounds to single precision where NumPy computes with it.
 */

/** @typedef {readonly (readonly (readonly number[])[])[]} Strokes */
/** @typedef {{ size: number, line_width: number, margin: number }} Ink */

const { ceil, fround, max, min } = Math;

// Long lines are drawn in pieces of at most this many pixels.
const PIECE_LENGTH = 2;
const SHORTEST = fround(1e-12);

/**
 * Draw strokes in the normal form, row by row: paper 255, ink 0; throw if there is no point.
 * @param {Strokes} strokes
 * @param {Ink} ink
 */
export function rasterise(strokes, { size, line_width, margin }) {
  const points = strokes.map((stroke) => stroke.map(([x, y]) => [fround(x), fround(y)])).filter(({ length }) => length);
  const all = points.flat();
  if (all.length === 0) throw new RangeError("This drawing has no points: draw something first.");
  const width = line_width * size;
  const pen = max(width, 1);
  const room = size * (1 - 2 * margin) - pen;
  const [x, y] = [0, 1].map((axis) => extentOf(all, axis));
  const extent = max(x.extent, y.extent);
  const scale = extent > 0 ? room / extent : 1;
  const place = (/** @type {number[]} */ point) => [
    (point[0] - x.middle) * scale + size / 2,
    (point[1] - y.middle) * scale + size / 2,
  ];
  /** @type {number[]} */
  const pieces = [];
  for (const stroke of points) cut(stroke.map(place), pieces);
  return cover(squaredDistances(pieces, size, pen / 2), pen / 2, min(width, 1));
}

/** Return how much of a drawn picture is ink, 0 to 1. @param {Uint8Array} pixels */
export function shareOfInk(pixels) {
  return 1 - pixels.reduce((sum, pixel) => sum + pixel, 0) / pixels.length / 255;
}

/**
 * @param {number[][]} points
 * @param {number} axis
 */
function extentOf(points, axis) {
  let [low, high] = [Infinity, -Infinity];
  for (const point of points) {
    low = min(low, point[axis]);
    high = max(high, point[axis]);
  }
  return { extent: high - low, middle: low + (high - low) / 2 };
}

/**
 * Cut the lines of a stroke into equal pieces; the last point is a dot.
 * @param {number[][]} points
 * @param {number[]} pieces gets four numbers for each: where it starts, and where it ends
 */
function cut(points, pieces) {
  points.forEach(([x, y], number) => {
    const [endX, endY] = points[number + 1] ?? [x, y];
    const count = max(ceil(Math.hypot(endX - x, endY - y) / PIECE_LENGTH), 1);
    const stepX = (endX - x) / count;
    const stepY = (endY - y) / count;
    for (let piece = 0; piece < count; piece++) {
      const startX = x + piece * stepX;
      const startY = y + piece * stepY;
      pieces.push(startX, startY, startX + stepX, startY + stepY);
    }
  });
}

/**
 * Return the square of each pixel centre's distance to the nearest piece; infinite far from all of them.
 * @param {number[]} pieces
 * @param {number} size
 * @param {number} radius
 */
function squaredDistances(pieces, size, radius) {
  const squared = new Float32Array(size * size).fill(Infinity);
  const window = ceil(PIECE_LENGTH + 2 * radius) + 2; // a piece may be longer by a rounding error
  for (let at = 0; at < pieces.length; at += 4) {
    const x = pieces[at];
    const y = pieces[at + 1];
    const endX = pieces[at + 2];
    const endY = pieces[at + 3];
    const left = Math.floor(min(x, endX) - radius);
    const top = Math.floor(min(y, endY) - radius);
    const spanX = fround(endX - x);
    const spanY = fround(endY - y);
    const length = max(fround(fround(spanX * spanX) + fround(spanY * spanY)), SHORTEST);
    for (let row = max(0, -top); row < window && top + row < size; row++) {
      const down = fround(row + 0.5 + (top - y));
      const alongDown = fround(down * spanY);
      for (let column = max(0, -left); column < window && left + column < size; column++) {
        const right = fround(column + 0.5 + (left - x));
        const along = min(max(fround(fround(fround(right * spanX) + alongDown) / length), 0), 1);
        const awayX = fround(right - fround(along * spanX));
        const awayY = fround(down - fround(along * spanY));
        const gap = fround(fround(awayX * awayX) + fround(awayY * awayY));
        const pixel = (top + row) * size + left + column;
        if (gap < squared[pixel]) squared[pixel] = gap;
      }
    }
  }
  return squared;
}

/**
 * @param {Float32Array} squared
 * @param {number} radius
 * @param {number} darkness of a pixel that is covered whole
 */
function cover(squared, radius, darkness) {
  const reach = fround(radius + 0.5);
  const dark = fround(darkness);
  const page = new Uint8Array(squared.length).fill(255);
  for (let pixel = 0; pixel < page.length; pixel++) {
    if (squared[pixel] === Infinity) continue;
    const covered = min(max(fround(reach - fround(Math.sqrt(squared[pixel]))), 0), 1);
    page[pixel] = roundToEven(fround(255 - fround(255 * fround(covered * dark))));
  }
  return page;
}

/** Round as NumPy does: halves to the even number. @param {number} value not negative */
export function roundToEven(value) {
  const whole = Math.floor(value);
  const rest = value - whole;
  return rest > 0.5 || (rest === 0.5 && whole % 2 === 1) ? whole + 1 : whole;
}
