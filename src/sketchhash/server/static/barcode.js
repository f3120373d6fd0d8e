// @ts-check
/** A code as a barcode: a bar for every bit that is one. */

/**
 * @param {SVGSVGElement} picture
 * @param {string} code hexadecimal, highest bit first
 */
export function drawBarcode(picture, code) {
  const bits = [...code].flatMap((digit) => [...Number.parseInt(digit, 16).toString(2).padStart(4, "0")]);
  const bars = bits.map((bit, place) => (bit === "1" ? `M${place} 0h1v1h-1z` : ""));
  picture.setAttribute("viewBox", `0 0 ${Math.max(bits.length, 1)} 1`);
  picture.querySelector("path")?.setAttribute("d", bars.join(""));
}
