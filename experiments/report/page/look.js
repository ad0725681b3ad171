// How a line looks: a colour of Okabe and Ito's palette, a dash and a marker. Lines never differ by colour alone.

const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C"];
const HOME = { none: "#8C8C8C", ring: "#0072B2", "halving-doubling": "#56B4E9", "ps-sync": "#D55E00", "ps-async": "#E69F00" };
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
const MARKERS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star", "pentagon", "hexagon", "hourglass", "bowtie"];
const PATTERNS = ["", "/", "\\", "x", "-", "|", "+", "."];

/** Maps a label to {colour, dash, marker, pattern}. A strategy has one colour in all charts; `HOME` fixes it for all studies. */
export function looksOf(study) {
  const looks = new Map();
  const free = COLOURS.filter((colour) => !study.cells.some((cell) => HOME[cell.strategy] === colour));
  const taken = new Map();
  for (const cell of study.cells) {
    if (taken.has(cell.strategy)) continue;
    taken.set(cell.strategy, HOME[cell.strategy] ?? free.shift() ?? COLOURS[taken.size % COLOURS.length]);
  }
  const strategies = new Map(study.cells.flatMap((cell) => [study.seriesOf(cell), ...study.linesOf(cell)].map((label) => [label, cell.strategy])));
  const repeats = new Map();
  [...new Set([...study.labels, ...study.lineLabels])].forEach((label, i) => {
    const colour = taken.get(strategies.get(label));
    const repeat = repeats.get(colour) ?? 0;
    repeats.set(colour, repeat + 1);
    looks.set(label, { colour, dash: DASHES[repeat % DASHES.length], marker: MARKERS[i % MARKERS.length],
                       pattern: PATTERNS[repeat % PATTERNS.length] });
  });
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
