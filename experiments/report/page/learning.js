// Charts of accuracy, loss and staleness.
import { plain } from "./chart.js";
import { integer } from "./format.js";
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

export function curves(study, view, looks, at, time, metric) {
  const data = [];
  for (const [label, cells] of view.series()) {
    const look = looks.get(label);
    for (const cell of cells.filter((one) => study.valueOf(one, view.x) === at)) {
      const curve = medianCurve(cell, time, metric);
      if (curve.x.length === 0) continue;
      data.push({ type: "scatter", mode: curve.x.length > 25 ? "lines" : "lines+markers", name: plain(label), x: curve.x, y: curve.y,
                  line: { color: look.colour, dash: look.dash, width: 2 }, marker: { color: look.colour, symbol: look.marker, size: 7 },
                  hovertemplate: curve.step.map((step) => `${plain(label)}<br>after ${integer(step)} steps: %{y:.4~g}<extra></extra>`) });
    }
  }
  if (data.length === 0) return `No run in this selection has been evaluated (${CURVE_METRICS[metric].title}).`;
  const target = study.data.target?.accuracy;
  const shapes = metric === "accuracy" && Number.isFinite(target)
    ? [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: target, y1: target, line: { color: "#8C8C8C", dash: "dot", width: 1.5 } }] : [];
  return { data, layout: { shapes, xaxis: { title: { text: CURVE_TIMES[time].title }, rangemode: "tozero" },
                           yaxis: { title: { text: CURVE_METRICS[metric].title }, tickformat: CURVE_METRICS[metric].tickformat } } };
}

export function staleness(study, view, looks, at) {
  const data = [];
  for (const [label, cells] of view.series()) {
    const look = looks.get(label);
    for (const cell of cells.filter((one) => study.valueOf(one, view.x) === at)) {
      const histogram = Object.entries(cell.staleness ?? {}).map(([behind, updates]) => [Number(behind), updates]).sort((a, b) => a[0] - b[0]);
      const total = histogram.reduce((sum, [, updates]) => sum + updates, 0);
      if (total === 0) continue;
      data.push({ type: "bar", name: plain(label), x: histogram.map(([behind]) => behind), y: histogram.map(([, updates]) => updates / total),
                  marker: { color: look.colour, pattern: { shape: look.pattern, fgcolor: "rgba(255,255,255,0.55)", fillmode: "overlay" } },
                  hovertemplate: histogram.map(([behind, updates]) => `${plain(label)}<br>${behind} versions behind: ${integer(updates)} updates, %{y:.1%}<extra></extra>`) });
    }
  }
  if (data.length === 0) return "No run in this selection counted stale updates: only runs with parameter servers do.";
  return { data, layout: { barmode: "group", xaxis: { title: { text: "versions behind" }, dtick: data.some((one) => one.x.length > 12) ? undefined : 1 },
                           yaxis: { title: { text: "share of bucket updates" }, tickformat: ".0%", rangemode: "tozero" } } };
}
