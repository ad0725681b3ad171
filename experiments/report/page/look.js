// How a line looks: a colour, a dash and a marker. Lines never differ by colour alone. A family has its own hues of Okabe and
// Ito's palette. Variants of a strategy, such as its numbers of servers, are shades of its hue, from dark to light.

const HUES = { none: ["#8C8C8C"], ring: ["#0072B2", "#009E73", "#56B4E9"], "parameter server": ["#D55E00", "#E69F00", "#CC79A7"] };
const HOME = { none: "#8C8C8C", ring: "#0072B2", "halving-doubling": "#56B4E9", "ps-sync": "#D55E00", "ps-async": "#E69F00" };
/** The darkest and the lightest shade, and the shades of a hue that several strategies use. Below 0: mixed with black. */
const SHADES = { light: { ends: [-0.5, 0.5], reused: [0, -0.4, 0.45, -0.65] }, dark: { ends: [-0.2, 0.65], reused: [0, 0.5, -0.25, 0.75] } };
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
const MARKERS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star", "pentagon", "hexagon", "hourglass", "bowtie"];

/** Mixes a colour with black (amount below 0) or with white. */
export function shade(colour, amount) {
  const mixed = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))
    .map((part) => Math.round(part + Math.abs(amount) * ((amount > 0 ? 255 : 0) - part)));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`.toUpperCase();
}

function theme() {
  return getComputedStyle(document.documentElement).colorScheme === "dark" ? "dark" : "light";
}

/** Maps a strategy to [hue, how many strategies before it use the hue]. `HOME` fixes some hues for all studies. */
function huesOf(cells) {
  const families = new Map();
  for (const cell of cells) families.set(cell.family || "none", (families.get(cell.family || "none") ?? new Set()).add(cell.strategy));
  const hues = new Map();
  for (const [family, strategies] of families) {
    const own = HUES[family] ?? HUES.none;
    const used = new Map([...strategies].filter((one) => HOME[one]).map((one) => [HOME[one], 1]));
    const order = [...own.filter((hue) => !used.has(hue)), ...own.filter((hue) => used.has(hue))];
    [...strategies].filter((one) => !HOME[one]).forEach((strategy, i) => {
      const hue = order[i % order.length];
      hues.set(strategy, [hue, used.get(hue) ?? 0]);
      used.set(hue, (used.get(hue) ?? 0) + 1);
    });
    for (const strategy of strategies) if (HOME[strategy]) hues.set(strategy, [HOME[strategy], 0]);
  }
  return hues;
}

/** The labels of a strategy's variants: dedicated servers by their number, one per worker, then co-located ones. */
function variantsOf(study, strategy) {
  const order = new Map();
  for (const cell of study.cells.filter((one) => one.strategy === strategy)) {
    for (const label of [study.seriesOf(cell), ...study.linesOf(cell)]) {
      if (!order.has(label)) order.set(label, (cell.colocated ? 2e6 : 0) + (label.includes("per worker") ? 1e6 : 0) + (cell.servers ?? 0));
    }
  }
  return [...order].sort((a, b) => a[1] - b[1]).map(([label]) => label);
}

/** Maps a label to {colour, dash, marker}. The colour is that of the page's theme at the moment when it is read. */
export function looksOf(study) {
  const looks = new Map();
  for (const [strategy, [hue, before]] of huesOf(study.cells)) {
    const labels = variantsOf(study, strategy);
    labels.forEach((label, i) => {
      const marker = MARKERS[looks.size % MARKERS.length];
      looks.set(label, {
        dash: DASHES[i % DASHES.length], marker,
        get colour() {
          const { ends: [first, last], reused } = SHADES[theme()];
          return shade(hue, labels.length > 1 ? first + ((last - first) * i) / (labels.length - 1) : reused[before % reused.length]);
        },
      });
    });
  }
  return looks;
}

/** The parts of a step, in the order in which the bars stack them. */
export const PARTS = [
  ["compute", "compute", "#0072B2", ""],
  ["exposed", "exposed communication", "#D55E00", "/"],
  ["straggler", "waiting for a straggler", "#CC79A7", "\\"],
  ["queue", "server queue", "#E69F00", "x"],
  ["codec", "codec", "#009E73", "-"],
  ["data", "data", "#56B4E9", "|"],
  ["other", "the rest", "#8C8C8C", "."],
];
