// @ts-check
/** Numbers, sizes and times as people read them. */

/** @param {number} count */
export function asCount(count) {
  return count.toLocaleString("en");
}

/**
 * @param {number} count
 * @param {string} thing
 */
export function counted(count, thing) {
  return `${asCount(count)} ${thing}${count === 1 ? "" : "s"}`;
}

/** @param {number} bytes */
export function asSize(bytes) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${(bytes / 1000 ** power).toLocaleString("en", { maximumFractionDigits: power ? 1 : 0 })} ${units[power]}`;
}

/** @param {string} time ISO 8601 */
export function asDate(time) {
  return new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** @param {number} milliseconds */
export function asDuration(milliseconds) {
  return `${milliseconds.toLocaleString("en", { maximumFractionDigits: milliseconds < 10 ? 1 : 0 })} ms`;
}
