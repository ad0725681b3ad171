// The names of lines, written beside the lines' ends. Pure functions on pixels and on parts of an axis.
import { plain } from "./chart.js";

const FLATTENED = 8; // a line that is so many times lower than the highest one looks flat
const NARROW = 560;
const BESIDE = 30; // pixels between an axis and a name, and after it

/** Whether an axis is logarithmic: by choice, or ("auto") because the highest of `tops` flattens another one. */
export function isLogarithmic(choice, tops) {
  if (tops.length === 0 || tops.some((top) => !(top > 0))) return false;
  if (choice !== "auto") return choice === "log";
  return Math.max(...tops) > FLATTENED * Math.min(...tops);
}

/** Moves places in 0..1 apart by at least `gap`, in their order: a pass up, then a pass down. */
export function spread(places, gap) {
  const order = places.map((_, i) => i).sort((a, b) => places[a] - places[b]);
  const moved = [];
  let lowest = 0;
  for (const i of order) {
    moved[i] = Math.max(places[i], lowest);
    lowest = moved[i] + gap;
  }
  let highest = 1;
  for (const i of order.reverse()) {
    moved[i] = Math.min(moved[i], highest);
    highest = moved[i] - gap;
  }
  return moved;
}

/** The range of an axis that shows `values`, as Plotly wants it: of logarithms where the axis is logarithmic. */
export function rangeOf(values, log, fromZero) {
  const known = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  const [low, high] = [Math.min(...known), Math.max(...known)].map((value) => (log ? Math.log10(value) : value));
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  return [fromZero && !log ? Math.min(0, low) : low - room, high + room];
}

/** The ticks 1, 2 and 5 of every power of ten within a logarithmic axis' range. */
export function logTicks([low, high], show) {
  const values = [];
  for (let power = Math.floor(low); power <= high; ++power) values.push(...[1, 2, 5].map((digit) => digit * 10 ** power));
  const inside = values.filter((value) => Math.log10(value) >= low && Math.log10(value) <= high);
  return inside.length < 2 ? {} : { tickvals: inside, ticktext: inside.map(show) };
}

/** Lines of a label: two where the window is narrow. What is longer than `most` characters is cut. */
function textOf(name, narrow, most) {
  const cut = (line) => (line.length > most ? `${line.slice(0, most - 1)}…` : line);
  return (narrow ? name.split(/, | (?=\()/) : [name]).map(cut);
}

/** The share of an axis at which a value is. */
function shareOf(value, [low, high], log) {
  return ((log ? Math.log10(value) : value) - low) / (high - low);
}

/**
 * What names the ends of lines: {annotations, shapes, margin, height}. `ends` are {x, y, name, colour}, in units of the axes;
 * `axes` are {x: {range, log}, y: {range, log}}. A thin line goes from the end of a line to its name.
 */
export function endLabels(ends, axes, width, color) {
  const narrow = width < NARROW;
  const size = narrow ? 10 : 12;
  const letter = size * 0.58;
  const lines = ends.map((end) => textOf(end.name, narrow, Math.floor((width * 0.5 - BESIDE) / letter)));
  const gap = Math.max(...lines.map((text) => text.length)) * size * 1.3;
  const inner = Math.max(300, ends.length * gap);
  const right = BESIDE + Math.max(...lines.flat().map((text) => text.length)) * letter;
  const across = Math.max(100, width - right - (narrow ? 44 : 64));
  const tops = ends.map((end) => shareOf(end.y, axes.y.range, axes.y.log));
  const places = spread(tops, gap / inner);
  return {
    margin: right, height: inner + 130,
    annotations: ends.map((end, i) => ({
      xref: "paper", x: 1, xshift: 22, xanchor: "left", yref: "paper", y: places[i], yanchor: "middle", showarrow: false, align: "left",
      text: lines[i].map(plain).join("<br>"), font: { size, color },
    })),
    shapes: ends.map((end, i) => ({
      type: "line", xref: "paper", yref: "paper", x0: Math.min(1, shareOf(end.x, axes.x.range, axes.x.log)), y0: tops[i], x1: 1 + 20 / across,
      y1: places[i], line: { color: end.colour, width: 1, dash: "dot" },
    })),
  };
}
