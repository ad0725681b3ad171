// The charts of a study. Each function returns Plotly's data for a view, or a text that says why there is none.
import { ink, plain } from "./chart.js";
import { bytes, compact, ends, fixed, percent } from "./format.js";
import { endLabels, isLogarithmic, logTicks, rangeOf } from "./labels.js";
import { PARTS } from "./look.js";
import { countedRuns, isLimited, median } from "./study.js";

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

const short = (value) => value.toLocaleString("en-US", { maximumSignificantDigits: 3 });

const perSecond = (cell, ms) => (ms && cell.global_batch ? (1000 * cell.global_batch) / ms : null);

/** What the scaling chart can show. `bound(cell)` and `achievable(cell)` return these figures where they are known. */
export const METRICS = {
  step_ms: { name: "Step time", title: "step time, ms", show: fixed(2), bound: (cell) => cell.bound_ms, achievable: (cell) => cell.achievable_ms },
  samples_per_s: {
    name: "Throughput", title: "samples / s", show: compact,
    bound: (cell) => perSecond(cell, cell.bound_ms), achievable: (cell) => perSecond(cell, cell.achievable_ms),
  },
  speedup: { name: "Speed-up", title: "speed-up over the best single worker", show: fixed(2), ideal: (x) => x },
  efficiency: { name: "Efficiency", title: "speed-up / workers", show: percent, ideal: () => 1, tickformat: ".0%" },
};

const MOST_TICK_LINES = 3; // longer names need a row each
const TICK_LINE = 16; // pixels

/** Breaks a text into lines of about `length` characters. */
function linesOf(words, length) {
  const lines = [""];
  for (const word of words.split(" ")) {
    if (lines.at(-1) !== "" && lines.at(-1).length + word.length > length) lines.push("");
    lines[lines.length - 1] += `${lines.at(-1) === "" ? "" : " "}${word}`;
  }
  return lines;
}

function xAxis(study, view, cells, width) {
  const values = study.valuesOf(view.x, cells);
  const numeric = study.isNumeric(view.x);
  const title = { text: plain(study.nameOf(view.x)), standoff: 8 };
  const folded = values.map((value) => linesOf(study.textOf(view.x, value), width < 560 ? 7 : 18).map(plain));
  const texts = folded.map((lines) => lines.join("<br>"));
  const at = (value) => (numeric ? Number(value) : values.indexOf(value));
  // A logarithmic axis is for values over several powers of ten.
  const wide = numeric && values.length > 2 && Number(values[0]) > 0 && Number(values.at(-1)) / Number(values[0]) > 32;
  return { at, values, lines: Math.max(...folded.map((one) => one.length)), axis: { title, type: wide ? "log" : "linear", tickvals: values.map(at), ticktext: texts, zeroline: false } };
}

function errorBars(cells, metric, color) {
  const pairs = cells.map((cell) => ends(cell.intervals?.[metric]));
  if (pairs.every((pair) => pair === null)) return undefined;
  return { type: "data", symmetric: false, thickness: 1.5, width: 4, color,
           array: cells.map((cell, i) => (pairs[i] ? pairs[i][1] - cell[metric] : 0)),
           arrayminus: cells.map((cell, i) => (pairs[i] ? cell[metric] - pairs[i][0] : 0)) };
}

const limitedText = (run) => (isLimited(run) ? ", limited by the machine" : "");

/** The marker of a cell: open with a cross when the machine limited all its runs, which then take no part in verdicts. */
function cellMarker(cell, marker) {
  return cell.takes_part === false ? "circle-x-open" : marker;
}

function runMarker(run, marker) {
  if (isLimited(run)) return "x-thin-open";
  return run.outlier ? "circle-open" : marker;
}

/** Shows every run as a faint point behind its median. An outlier has a ring, a run that the machine limited is a cross. */
function runPoints(cells, x, key, metric, look) {
  const runs = cells.flatMap((cell) => (cell.results ?? []).map((run) => [x(cell), run]))
    .filter(([, run]) => run.status === "done" && isNumber(run[metric]));
  if (runs.length <= cells.length) return null;
  return {
    type: "scatter", mode: "markers", legendgroup: key, showlegend: false, x: runs.map(([at]) => at), y: runs.map(([, run]) => run[metric]),
    marker: { color: look.colour, opacity: 0.35, size: runs.map(([, run]) => (run.outlier || isLimited(run) ? 10 : 5)), symbol: runs.map(([, run]) => runMarker(run, look.marker)) },
    hovertemplate: runs.map(([, run]) => `run ${plain(run.run_id)}${run.outlier ? ", far from its cell's median" : ""}${limitedText(run)}: %{y:.4~g}<extra></extra>`),
  };
}

/** The figures that are known beside the measured one, their names, and how their lines look. */
const LIMITS = [["bound", "bound (dashed)", "5px,4px", "line-ew-open"], ["achievable", "achievable (dotted)", "1px,3px", "diamond-open"]];

const LIMIT_NOTES = {
  bound: "The dashed lines are the bound, the shortest time that theory allows on the declared link.",
  achievable: "The dotted lines are achievable when buckets are sent in the strategy's order.",
};

/** What to say about the limits that the scaling chart draws for a metric. */
export function limitNotes(study, metric) {
  const limits = METRICS[metric];
  return Object.keys(LIMIT_NOTES).filter((key) => limits[key] && study.cells.some((cell) => limits[key](cell))).map((key) => LIMIT_NOTES[key]);
}

/** The line of a label, its single runs and its limits, as Plotly's data. */
function lineOf(study, view, what, metric, label, look, cells, all, at, named) {
  const data = [{
    type: "scatter", mode: "lines+markers", name: plain(label), legendgroup: label, showlegend: false, x: cells.map(at), y: cells.map((cell) => cell[metric]),
    error_y: errorBars(cells, metric), line: { color: look.colour, dash: look.dash, width: 2.5 },
    marker: { color: look.colour, symbol: cells.map((cell) => cellMarker(cell, look.marker)), size: cells.map((cell) => (cell.takes_part === false ? 15 : 9)) },
    hovertemplate: cells.map((cell) => `${plain(label)}<br>${plain(study.nameOf(view.x))}: ${plain(study.textOf(view.x, study.valueOf(cell, view.x)))}<br>${what.title}: ${what.show(cell[metric])}<br>runs: ${cell.runs}${cell.takes_part === false ? ", all limited by the machine" : ""}<extra></extra>`),
  }];
  const points = runPoints(cells, at, label, metric, look);
  if (points) data.push(points);
  for (const [key, name, dash, symbol] of LIMITS) {
    const limit = what[key];
    const limited = limit ? all.filter((cell) => isNumber(limit(cell))) : [];
    if (limited.length === 0) continue;
    data.push({ type: "scatter", mode: limited.length > 1 ? "lines" : "markers", name, legendgroup: label, showlegend: false,
                x: limited.map(at), y: limited.map(limit), line: { color: look.colour, dash, width: 1.2 },
                marker: { symbol, size: key === "bound" ? 14 : 9, color: look.colour },
                hovertemplate: `${key} of ${plain(label)}: %{y:.4~g}<extra></extra>` });
    named.set(key, { type: "scatter", mode: "lines", name, x: [null], y: [null], line: { color: "#8C8C8C", dash, width: 1.5 } });
  }
  return data;
}

/** The heights that an axis must show: of lines, limits, intervals and single runs. */
function heightsOf(data) {
  return data.flatMap((one) => one.y.flatMap((y, i) => [y, y + (one.error_y?.array[i] ?? 0), y - (one.error_y?.arrayminus[i] ?? 0)]));
}

/** A row with a name for each configuration: for an x with one value, or with values that have long names. */
function dots(study, view, looks, metric, scale, width) {
  const what = METRICS[metric];
  const found = rows(study, view, (cell) => isNumber(cell[metric]));
  const cells = found.map((row) => row.cell);
  const log = isLogarithmic(scale, cells.map((cell) => cell[metric]));
  const picture = rowLayout(found, what.title + (log ? " (log scale)" : ""), width);
  Object.assign(picture.layout.xaxis, { type: log ? "log" : "linear", tickformat: what.tickformat });
  if (log) Object.assign(picture.layout.xaxis, logTicks(rangeOf(cells.map((cell) => cell[metric]), true, false), short));
  picture.margin = 70;
  picture.data = [{
    type: "scatter", mode: "markers+text", name: "measured", showlegend: false, y: found.map((row) => row.name), x: cells.map((cell) => cell[metric]), error_x: errorBars(cells, metric, "#8C8C8C"),
    text: cells.map((cell) => what.show(cell[metric])), textposition: "top right", cliponaxis: false,
    marker: { size: 11, color: found.map((row) => looks.get(row.label).colour), symbol: found.map((row) => cellMarker(row.cell, looks.get(row.label).marker)) },
    hovertemplate: found.map((row) => `${row.name}: ${what.show(row.cell[metric])}<br>runs: ${row.cell.runs}<extra></extra>`),
  }];
  for (const [key, name, , symbol] of LIMITS) {
    const known = what[key] ? found.filter((row) => isNumber(what[key](row.cell))) : [];
    if (known.length === 0) continue;
    picture.data.push({ type: "scatter", mode: "markers", name: key, showlegend: true, y: known.map((row) => row.name), x: known.map((row) => what[key](row.cell)),
                        marker: { symbol: key === "bound" ? "line-ns-open" : symbol, size: key === "bound" ? 13 : 8, color: "#8C8C8C", line: { width: 2 } },
                        hovertemplate: known.map((row) => `${name.split(" ")[0]} of ${row.name}: %{x:.4~g}<extra></extra>`) });
  }
  return picture;
}

/** Lines over x, each with its name at its end. `scale` is "auto", "linear" or "log". */
export function scaling(study, view, looks, metric, scale, width) {
  const what = METRICS[metric];
  const x = xAxis(study, view, view.cells(), width);
  const at = (cell) => x.at(study.valueOf(cell, view.x));
  const lines = view.lines().map(([label, all]) => ({ label, all, cells: all.filter((cell) => isNumber(cell[metric])) })).filter((line) => line.cells.length > 0);
  if (lines.length === 0) return `No run in this selection has a ${what.name.toLowerCase()}${metric === "speedup" || metric === "efficiency" ? ": it needs a run with a single worker" : ""}.`;
  if (x.values.length === 1 || x.lines > MOST_TICK_LINES) return dots(study, view, looks, metric, scale, width);
  const named = new Map(); // the legend's entries of limits, in no line's colour
  const data = lines.flatMap(({ label, all, cells }) => lineOf(study, view, what, metric, label, looks.get(label), cells, all, at, named));
  if (what.ideal && view.x === "workers") {
    const values = x.values.map(Number);
    data.push({ type: "scatter", mode: "lines", name: "ideal", x: values, y: values.map(what.ideal), line: { color: "#8C8C8C", dash: "dot", width: 1.5 }, hoverinfo: "skip" });
  }
  data.push(...named.values());
  const log = isLogarithmic(scale, lines.map(({ cells }) => Math.max(...cells.map((cell) => cell[metric]))));
  const axes = { x: { range: rangeOf(x.values.map(x.at), x.axis.type === "log", false), log: x.axis.type === "log" }, y: { range: rangeOf(heightsOf(data), log, true), log } };
  const ends = lines.map(({ label, cells }) => ({ x: at(cells.at(-1)), y: cells.at(-1)[metric], name: label, colour: looks.get(label).colour }));
  const ticks = log ? logTicks(axes.y.range, short) : {};
  const { annotations, shapes, margin, height } = endLabels(ends, axes, width, ink());
  return { data, margin, below: (x.lines - 1) * TICK_LINE, height: Math.max(400, height), layout: {
    annotations, shapes, dragmode: false, xaxis: { ...x.axis, range: axes.x.range, fixedrange: true },
    yaxis: { title: { text: what.title + (log ? " (log scale)" : "") }, type: log ? "log" : "linear", range: axes.y.range, fixedrange: true, tickformat: what.tickformat, ...ticks } } };
}

/** Returns {part: milliseconds} of a cell's step. An unknown part is absent; its time is in another part. */
export function partsOf(cell) {
  const path = cell.critical_path;
  if (path) {
    const parts = { compute: path.compute_ms, exposed: path.exposed_comm_ms, straggler: path.straggler_wait_ms,
                    queue: path.server_queue_ms, codec: path.codec_ms, data: path.data_ms, other: path.other_ms };
    const known = Object.entries(parts).filter(([, value]) => isNumber(value));
    if (known.length > 0) return Object.fromEntries(known);
  }
  if (!isNumber(cell.step_ms)) return null;
  const run = (key) => median(countedRuns(cell).map((one) => one[key]));
  const compute = cell.compute_ms ?? run("compute_ms");
  const exposed = cell.exposed_comm_ms;
  if (!isNumber(compute) || !isNumber(exposed)) return null;
  return { compute, exposed, other: Math.max(0, cell.step_ms - compute - exposed) };
}

/** Rows of a horizontal bar chart: one per cell, grouped by series, the first on top. */
function rows(study, view, keep) {
  const found = view.series().flatMap(([label, cells]) => cells.filter(keep).map((cell) => ({
    label, cell, name: plain((view.choices.includes(view.x) && study.valuesOf(view.x).length > 1
      ? `${label} · ${study.placeOf(view.x, study.valueOf(cell, view.x))}` : label) + (cell.takes_part === false ? " (limited)" : "")) })));
  return found.reverse();
}

/** The axes of rows. A long name has several lines, and all rows are as high as that of the longest name. */
function rowLayout(found, title, width) {
  const narrow = width < 560;
  const names = found.map((row) => linesOf(row.name, narrow ? 24 : 48));
  const lines = Math.max(...names.map((one) => one.length));
  return { height: Math.max(230, 110 + found.length * (lines * (narrow ? 13 : 15) + 10)),
           layout: { xaxis: { title: { text: narrow ? linesOf(title, 40).join("<br>") : title }, rangemode: "tozero", nticks: narrow ? 4 : undefined },
                     yaxis: { type: "category", automargin: true, tickfont: { size: narrow ? 10 : 12 }, tickvals: found.map((row) => row.name), ticktext: names.map((one) => one.join("<br>")) } } };
}

function stack(found, parts, title, width, show) {
  const data = parts.filter(([key]) => found.some((row) => row.parts[key] > 0)).map(([key, name, colour, shape]) => ({
    type: "bar", orientation: "h", name, y: found.map((row) => row.name), x: found.map((row) => row.parts[key] ?? null),
    marker: { color: colour, pattern: { shape, fgcolor: "rgba(255,255,255,0.55)", fillmode: "overlay", size: 6 }, line: { width: 0 } },
    hovertemplate: found.map((row) => `${row.name}<br>${name}: ${show(row.parts[key])}<extra></extra>`),
  }));
  const picture = { data, ...rowLayout(found, title, width) };
  // The sum beside each bar, because the longest bar makes the others short.
  picture.layout.annotations = found.map((row) => {
    const sum = parts.reduce((all, [key]) => all + (row.parts[key] ?? 0), 0);
    return { x: sum, y: row.name, text: show(sum), showarrow: false, xanchor: "left", xshift: 4, font: { size: 11, color: ink() } };
  });
  picture.margin = 70;
  return picture;
}

export function timeParts(study, view, width) {
  const found = rows(study, view, (cell) => partsOf(cell) !== null).map((row) => ({ ...row, parts: partsOf(row.cell) }));
  if (found.length === 0) return "No run in this selection recorded the parts of its steps.";
  return stack(found, PARTS, "step, ms", width, (value) => `${compact(value)} ms`);
}

export const COSTS = {
  core: { name: "Core-seconds", title: "core-seconds / sample", show: compact },
  nic: { name: "NIC bytes", title: "bytes through all NICs / sample", show: bytes },
  memory: { name: "Memory", title: "peak resident memory of all processes, MiB", show: compact },
};
const COST_PARTS = [["workers", "workers", "#0072B2", ""], ["servers", "servers", "#D55E00", "/"]];

function costOf(cell, cost) {
  if (cost === "memory") return isNumber(cell.peak_rss_bytes) ? { workers: cell.peak_rss_bytes / 1048576 } : null;
  if (cost === "nic") {
    if (!isNumber(cell.nic_bytes_per_sample)) return null;
    const servers = cell.nic_bytes_per_sample_servers ?? 0;
    return { workers: cell.nic_bytes_per_sample - servers, servers };
  }
  if (!isNumber(cell.core_seconds_per_sample)) return null;
  const [own, theirs] = [cell.cpu_seconds_workers ?? 1, cell.cpu_seconds_servers ?? 0];
  const share = own + theirs > 0 ? theirs / (own + theirs) : 0;
  return { workers: cell.core_seconds_per_sample * (1 - share), servers: cell.core_seconds_per_sample * share };
}

export function resources(study, view, width, cost) {
  const found = rows(study, view, (cell) => costOf(cell, cost) !== null).map((row) => ({ ...row, parts: costOf(row.cell, cost) }));
  if (found.length === 0) return "No run in this selection measured this.";
  const parts = cost === "memory" ? [["workers", "workers and dedicated servers", "#0072B2", ""]] : COST_PARTS;
  return stack(found, parts, COSTS[cost].title, width, COSTS[cost].show);
}

/** Breaks a text into lines that fit a tooltip. */
function folded(words) {
  return words ? `<br>${linesOf(words, 60).map(plain).join("<br>")}` : "";
}

export function againstBound(study, view, looks, width) {
  const timed = rows(study, view, (cell) => isNumber(cell.bound_ratio));
  const ratio = (cell) => (timed.length > 0 ? cell.bound_ratio : cell.bytes_per_step / cell.bound_bytes_per_step);
  const found = timed.length > 0 ? timed : rows(study, view, (cell) => cell.bytes_per_step > 0 && cell.bound_bytes_per_step > 0);
  if (found.length === 0) return "No run in this selection has a bound: a bound needs a declared link, or bytes that cross a socket.";
  const title = timed.length > 0 ? "step time / bound" : "bytes sent / bound (no link was declared, so the time has no bound)";
  const picture = rowLayout(found, title, width);
  picture.layout.xaxis.rangemode = "normal";
  picture.layout.shapes = [[1, "solid"], [1.15, "dot"]].map(([at, dash]) => ({
    type: "line", x0: at, x1: at, yref: "paper", y0: 0, y1: 1, line: { color: "#8C8C8C", dash, width: 1.5 } }));
  const cells = found.map((row) => row.cell);
  const bars = timed.length > 0 ? errorBars(cells, "bound_ratio", "#8C8C8C") : undefined;
  picture.data = [{
    type: "scatter", mode: "markers", y: found.map((row) => row.name), x: cells.map(ratio), error_x: bars, name: "measured", showlegend: false,
    marker: { size: 11, color: found.map((row) => looks.get(row.label).colour), symbol: found.map((row) => cellMarker(row.cell, looks.get(row.label).marker)) },
    hovertemplate: found.map((row) => `${row.name}: ${fixed(3)(ratio(row.cell))}${timed.length > 0 ? folded(row.cell.bound_explanation) : ""}<extra></extra>`),
  }];
  const limited = timed.length > 0 ? found.filter((row) => isNumber(row.cell.achievable_ms) && row.cell.bound_ms > 0) : [];
  if (limited.length > 0) {
    picture.data.push({
      type: "scatter", mode: "markers", y: limited.map((row) => row.name), x: limited.map((row) => row.cell.achievable_ms / row.cell.bound_ms),
      name: "achievable", showlegend: true, marker: { size: 13, color: "#8C8C8C", symbol: "line-ns-open", line: { width: 2 } },
      hovertemplate: limited.map((row) => `${row.name}: achievable %{x:.3f}, measured over achievable ${fixed(3)(row.cell.achievable_ratio)}<extra></extra>`),
    });
  }
  return picture;
}
