// Formats times, amounts and lists of names for people.
import { bytes, compact, integer } from "../../report/page/format.js";
export { bytes, compact, integer };

export const ms = (us) => `${(us / 1000).toFixed(Math.abs(us) < 100000 ? 3 : 1)} ms`;
export const plural = (count, one, many = `${one}s`) => `${integer(count)} ${count === 1 ? one : many}`;

export const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

/** "a", "a and b", "a, b and c"; more than `most` names become a count. */
export function listed(names, most = 4) {
  if (names.length > most) return `${names.slice(0, most - 1).join(", ")} and ${names.length - most + 1} more`;
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** A speed as people say it: "1/200", "real time". */
export const speedText = (speed) => (speed === 1 ? "real time" : `1/${Math.round(1 / speed)}`);
