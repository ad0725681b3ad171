// Formats numbers for people. An absent number becomes a dash.

const DASH = "–";
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

export const fixed = (digits) => (value) => (isNumber(value) ? value.toFixed(digits) : DASH);
export const percent = (value) => (isNumber(value) ? `${(value * 100).toFixed(1)} %` : DASH);
export const integer = (value) => (isNumber(value) ? Math.round(value).toLocaleString("en-US") : DASH);
export const text = (value) => (value === null || value === undefined || value === "" ? DASH : String(value));

/** A number with three or four significant digits. */
export function compact(value) {
  if (!isNumber(value)) return DASH;
  const size = Math.abs(value);
  if (size >= 1000) return integer(value);
  if (size === 0 || size >= 100) return value.toFixed(size === 0 ? 0 : 1);
  if (size >= 1) return value.toFixed(2);
  return value.toPrecision(3);
}

function scaled(value, base, units) {
  if (!isNumber(value)) return DASH;
  let i = 0;
  let size = value;
  while (Math.abs(size) >= base && i + 1 < units.length) { size /= base; ++i; }
  return `${Number(size.toPrecision(3))} ${units[i]}`;
}
export const bytes = (value) => scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
export const bits = (value) => scaled(value, 1000, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"]);
export const byteRate = (value) => scaled(value, 1000, ["B/s", "kB/s", "MB/s", "GB/s"]);

/** Returns [low, high] of an interval, written as a list or as {low, high}; null without one. */
export function ends(interval) {
  if (!interval) return null;
  return Array.isArray(interval) ? interval : [interval.low, interval.high];
}
export function intervalText(interval, format) {
  const pair = ends(interval);
  return pair ? `${format(pair[0])} to ${format(pair[1])}` : "";
}

/** The text of a spec key's value, with the unit that the key's name ends in. */
export function keyValue(key, value) {
  const number = Number(value);
  if (value === "" || !Number.isFinite(number)) return String(value);
  if (key.endsWith("_bits_per_s")) return number === 0 ? "not declared" : bits(number);
  if (key.endsWith("_bytes")) return bytes(number);
  return String(value);
}
export const keyName = (key) => key.replace(/_(bits_per_s|bytes|ms)$/, "").replaceAll("_", " ");

/** A condition without the words that a title beside it says: "100 Mbit/s" for "at 100 Mbit/s". */
export function withoutName(key, words) {
  const start = ["at ", `${keyName(key)} `].find((one) => words.startsWith(one)) ?? "";
  return words.slice(start.length);
}
