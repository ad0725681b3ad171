// Both runs share one position. An alignment says which time of each run belongs to it.
import { after } from "./intervals.js";

/** The same time since the beginning of the window in every run. */
class SameTime {
  constructor(runs) { this.length = Math.max(...runs.map((run) => run.end - run.begin)); }
  timeOf(run, position) { return run.begin + position; }
  positionOf(run, time) { return time - run.begin; }
}

/** The same fraction of the same step in every run. A step of the slowest run plays at its own speed. */
class SameStep {
  constructor(runs, unit) {
    this.unit = unit;
    this.knots = new Map(runs.map((run) => [run, knotsOf(run)]));
    this.length = unit * Math.max(...[...this.knots.values()].map((knots) => knots.length - 1));
  }

  timeOf(run, position) {
    const knots = this.knots.get(run);
    const step = Math.max(0, Math.min(Math.floor(position / this.unit), knots.length - 2));
    return knots[step] + Math.min(1, position / this.unit - step) * (knots[step + 1] - knots[step]);
  }

  positionOf(run, time) {
    const knots = this.knots.get(run);
    const step = Math.max(0, Math.min(after(knots, time) - 1, knots.length - 2));
    return (step + (time - knots[step]) / (knots[step + 1] - knots[step])) * this.unit;
  }
}

/** The begins of a run's steps, and the end of its record, which closes the last one. */
function knotsOf(run) {
  const knots = run.steps.map((step) => step.begin_us).filter((begin, i, all) => i === 0 || begin > all[i - 1]);
  if (knots.length === 0) return [run.begin, run.end];
  const last = run.steps.at(-1).end_us;
  return [...knots, Math.max(last, knots.at(-1) + 1)];
}

/** The longest typical step of the runs, in microseconds: the natural unit of time of the page. */
export function unitOf(runs) {
  const typical = runs.map((run) => {
    const times = run.steps.map((step) => step.end_us - step.begin_us).sort((a, b) => a - b);
    return times.length > 0 ? times[times.length >> 1] : run.end - run.begin;
  });
  return Math.max(1, ...typical);
}

export function alignmentOf(name, runs) {
  return name === "step" ? new SameStep(runs, unitOf(runs)) : new SameTime(runs);
}
