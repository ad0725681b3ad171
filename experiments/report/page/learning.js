// Charts of accuracy, loss and staleness.
import { ink, plain } from "./chart.js";
import { integer } from "./format.js";
import { endLabels, rangeOf } from "./labels.js";
import { countedRuns, median } from "./study.js";

export const CURVE_METRICS = {
  accuracy: { name: "Accuracy", title: "held-out accuracy", tickformat: ".0%" },
  loss: { name: "Loss", title: "held-out loss" },
  train_loss: { name: "Training loss", title: "training loss" },
};
export const CURVE_TIMES = {
  train_seconds: { name: "Time", title: "training time, s" },
  samples: { name: "Samples", title: "samples trained on" },
  epoch: { name: "Epochs", title: "epochs" },
};

/** The medians over a cell's runs at each step. A curve is {step: [...], accuracy: [...], ...}. */
function medianCurve(cell, time, metric) {
  const points = new Map();
  for (const run of countedRuns(cell)) {
    if (!run.curve?.step) continue;
    run.curve.step.forEach((step, i) => {
      if (!Number.isFinite(run.curve[metric]?.[i])) return;
      const point = points.get(step) ?? { x: [], y: [] };
      point.x.push(run.curve[time][i]);
      point.y.push(run.curve[metric][i]);
      points.set(step, point);
    });
  }
  const steps = [...points.keys()].sort((a, b) => a - b);
  return { x: steps.map((step) => median(points.get(step).x)), y: steps.map((step) => median(points.get(step).y)), step: steps };
}

export function curves(study, view, looks, at, time, metric, width) {
  const data = [];
  const ends = [];
  for (const [label, cells] of view.series()) {
    const look = looks.get(label);
    for (const cell of cells.filter((one) => study.valueOf(one, view.x) === at)) {
      const curve = medianCurve(cell, time, metric);
      if (curve.x.length === 0) continue;
      ends.push({ x: curve.x.at(-1), y: curve.y.at(-1), name: label, colour: look.colour });
      data.push({ showlegend: false, type: "scatter", mode: curve.x.length > 25 ? "lines" : "lines+markers", name: plain(label), x: curve.x, y: curve.y,
                  line: { color: look.colour, dash: look.dash, width: 2 }, marker: { color: look.colour, symbol: look.marker, size: 7 },
                  hovertemplate: curve.step.map((step) => `${plain(label)}<br>after ${integer(step)} steps: %{y:.4~g}<extra></extra>`) });
    }
  }
  if (data.length === 0) return `No run in this selection has been evaluated (${CURVE_METRICS[metric].title}).`;
  const target = study.data.target?.accuracy;
  const shapes = metric === "accuracy" && Number.isFinite(target)
    ? [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: target, y1: target, line: { color: "#8C8C8C", dash: "dot", width: 1.5 } }] : [];
  const heights = data.flatMap((one) => one.y).concat(shapes.map((one) => one.y0));
  const axes = { x: { range: rangeOf(data.flatMap((one) => one.x), false, true) }, y: { range: rangeOf(heights, false, false) } };
  const labels = endLabels(ends, axes, width, ink());
  return { data, margin: labels.margin, height: Math.max(400, labels.height), layout: {
    annotations: labels.annotations, shapes: [...shapes, ...labels.shapes], dragmode: false,
    xaxis: { title: { text: CURVE_TIMES[time].title }, range: axes.x.range, fixedrange: true },
    yaxis: { title: { text: CURVE_METRICS[metric].title }, tickformat: CURVE_METRICS[metric].tickformat, range: axes.y.range, fixedrange: true } } };
}

/** A row of bars for each configuration, with its name above. */
export function staleness(study, view, looks, at) {
  const rows = view.series().flatMap(([label, cells]) => cells
    .filter((cell) => study.valueOf(cell, view.x) === at && Object.keys(cell.staleness ?? {}).length > 0).map((cell) => ({ label, cell })));
  if (rows.length === 0) return "No run in this selection counted stale updates: only runs with parameter servers do.";
  const data = [];
  const layout = { annotations: [], xaxis: { title: { text: "versions behind" }, anchor: `y${rows.length}` } };
  const share = 1 / rows.length;
  rows.forEach(({ label, cell }, i) => {
    const histogram = Object.entries(cell.staleness).map(([behind, updates]) => [Number(behind), updates]).sort((a, b) => a[0] - b[0]);
    const total = histogram.reduce((sum, [, updates]) => sum + updates, 0);
    const top = 1 - i * share;
    data.push({ type: "bar", name: plain(label), showlegend: false, yaxis: `y${i + 1}`, x: histogram.map(([behind]) => behind), y: histogram.map(([, updates]) => updates / total),
                marker: { color: looks.get(label).colour },
                hovertemplate: histogram.map(([behind, updates]) => `${plain(label)}<br>${behind} versions behind: ${integer(updates)} updates, %{y:.1%}<extra></extra>`) });
    layout[`yaxis${i + 1}`] = { domain: [top - share * 0.74, top - share * 0.06], tickformat: ".0%", rangemode: "tozero", nticks: 3, automargin: true };
    layout.annotations.push({ xref: "paper", x: 0, xanchor: "left", yref: "paper", y: top - share * 0.06, yanchor: "bottom", text: plain(label), showarrow: false, font: { size: 12, color: ink() } });
  });
  layout.xaxis.dtick = data.some((one) => one.x.length > 12) ? undefined : 1;
  layout.yaxis = layout.yaxis1;
  delete layout.yaxis1;
  return { data, layout, height: 120 + 110 * rows.length };
}
