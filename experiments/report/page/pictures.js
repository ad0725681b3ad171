// The charts of a study. Each function returns Plotly's data for a view, or a text that says why there is none.
import { plain } from "./chart.js";
import { bytes, compact, ends, fixed, percent } from "./format.js";
import { PARTS } from "./look.js";
import { countedRuns, isLimited, median } from "./study.js";

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

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

function xAxis(study, view, cells) {
  const values = study.valuesOf(view.x, cells);
  const numeric = study.isNumeric(view.x);
  const title = { text: plain(study.nameOf(view.x)), standoff: 8 };
  const texts = values.map((value) => plain(study.textOf(view.x, value)));
  const at = (value) => (numeric ? Number(value) : values.indexOf(value));
  // A logarithmic axis is for values over several powers of ten.
  const wide = numeric && values.length > 2 && Number(values[0]) > 0 && Number(values.at(-1)) / Number(values[0]) > 32;
  return { at, values, axis: { title, type: wide ? "log" : "linear", tickvals: values.map(at), ticktext: texts, zeroline: false } };
}

function errorBars(cells, metric) {
  const pairs = cells.map((cell) => ends(cell.intervals?.[metric]));
  if (pairs.every((pair) => pair === null)) return undefined;
  return { type: "data", symmetric: false, thickness: 1.5, width: 4,
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

export function scaling(study, view, looks, metric) {
  const what = METRICS[metric];
  const data = [];
  const x = xAxis(study, view, view.cells());
  const at = (cell) => x.at(study.valueOf(cell, view.x));
  const named = new Set();
  for (const [label, all] of view.lines()) {
    const look = looks.get(label);
    const cells = all.filter((cell) => isNumber(cell[metric]));
    if (cells.length === 0) continue;
    data.push({
      type: "scatter", mode: "lines+markers", name: plain(label), legendgroup: label, x: cells.map(at), y: cells.map((cell) => cell[metric]),
      error_y: errorBars(cells, metric), line: { color: look.colour, dash: look.dash === "solid" ? "solid" : look.dash, width: 2.5 },
      marker: { color: look.colour, symbol: cells.map((cell) => cellMarker(cell, look.marker)), size: cells.map((cell) => (cell.takes_part === false ? 15 : 9)) },
      hovertemplate: cells.map((cell) => `${plain(label)}<br>${plain(study.nameOf(view.x))}: ${plain(study.textOf(view.x, study.valueOf(cell, view.x)))}<br>${what.title}: ${what.show(cell[metric])}<br>runs: ${cell.runs}${cell.takes_part === false ? ", all limited by the machine" : ""}<extra></extra>`),
    });
    const points = runPoints(cells, at, label, metric, look);
    if (points) data.push(points);
    for (const [key, name, dash, symbol] of LIMITS) {
      const limit = what[key];
      const limited = limit ? all.filter((cell) => isNumber(limit(cell))) : [];
      if (limited.length === 0) continue;
      data.push({ type: "scatter", mode: limited.length > 1 ? "lines" : "markers", name, legendgroup: label, showlegend: !named.has(key),
                  x: limited.map(at), y: limited.map(limit), line: { color: look.colour, dash, width: 1.2 },
                  marker: { symbol, size: key === "bound" ? 14 : 9, color: look.colour },
                  hovertemplate: `${key} of ${plain(label)}: %{y:.4~g}<extra></extra>` });
      named.add(key);
    }
  }
  if (data.length === 0) return `No run in this selection has a ${what.name.toLowerCase()}${metric === "speedup" || metric === "efficiency" ? ": it needs a run with a single worker" : ""}.`;
  if (what.ideal && view.x === "workers") {
    const values = x.values.map(Number);
    data.push({ type: "scatter", mode: "lines", name: "ideal", x: values, y: values.map(what.ideal), line: { color: "#8C8C8C", dash: "dot", width: 1.5 }, hoverinfo: "skip" });
  }
  return { data, layout: { xaxis: x.axis, yaxis: { title: { text: what.title }, rangemode: "tozero", tickformat: what.tickformat } } };
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
      ? `${label} · ${study.textOf(view.x, study.valueOf(cell, view.x))}` : label) + (cell.takes_part === false ? " (limited)" : "")) })));
  return found.reverse();
}

function rowLayout(found, title, width) {
  const narrow = width < 560;
  return { height: Math.max(250, 150 + found.length * (narrow ? 22 : 26)),
           layout: { xaxis: { title: { text: title }, rangemode: "tozero" }, yaxis: { type: "category", automargin: true, tickfont: { size: narrow ? 10 : 12 } } } };
}

function stack(found, parts, title, width, show) {
  const data = parts.filter(([key]) => found.some((row) => row.parts[key] > 0)).map(([key, name, colour, shape]) => ({
    type: "bar", orientation: "h", name, y: found.map((row) => row.name), x: found.map((row) => row.parts[key] ?? null),
    marker: { color: colour, pattern: { shape, fgcolor: "rgba(255,255,255,0.55)", fillmode: "overlay", size: 6 }, line: { width: 0 } },
    hovertemplate: found.map((row) => `${row.name}<br>${name}: ${show(row.parts[key])}<extra></extra>`),
  }));
  return { data, ...rowLayout(found, title, width) };
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
  const lines = [""];
  for (const word of (words || "").split(" ")) {
    if (lines.at(-1).length + word.length > 60) lines.push("");
    lines[lines.length - 1] += `${word} `;
  }
  return words ? `<br>${lines.map(plain).join("<br>")}` : "";
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
  const bars = timed.length > 0 ? errorBars(cells, "bound_ratio") : undefined;
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
