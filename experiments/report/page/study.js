// The study's data for the charts: cells by dimension, series by strategy and servers.
import { keyName, keyValue, withoutName } from "./format.js";

const unique = (values) => [...new Set(values)];
const isNumber = (text) => text !== "" && Number.isFinite(Number(text));

export function median(values) {
  const sorted = values.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The machine, and not the emulated network, limited a run. */
export function isLimited(run) {
  return Boolean(run.fidelity) && run.fidelity.verdict !== "ok";
}

/** The finished runs that a cell's numbers come from: those that the machine did not limit, or all when it limited all. */
export function countedRuns(cell) {
  return (cell.results ?? []).filter((run) => run.status === "done" && (cell.takes_part === false || !isLimited(run)));
}

export function serversText(cell) {
  if (!cell.servers) return "–";
  return `${cell.servers}${cell.colocated ? " co-located" : ""}`;
}

function chosenTransport(cell) {
  return cell.family === "parameter server" ? cell.transport : "";
}

export class Study {
  constructor(data) {
    this.data = data;
    this.cells = data.cells ?? [];
    this.runs = this.cells.flatMap((cell) => (cell.results ?? []).map((run) => ({ ...run, cell })));
    this.limited = this.runs.filter((run) => run.status === "done" && isLimited(run)).length;
    this.dilated = (data.dilation?.rows ?? []).some((row) => row.factor !== 1);
    this.emulated = this.cells.some((cell) => cell.emulated_compute);
    this.transports = unique(this.cells.map((cell) => cell.transport).filter(Boolean));
    this.mixesTransports = data.mixes_transports === true;
    // The transports that runs chose for servers. A ring chooses none: its strategy and hosts decide.
    this.serverTransports = unique(this.cells.map(chosenTransport).filter(Boolean));
    // The number of workers is a dimension like every key that the study varies.
    this.dimensions = ["workers", ...(data.varied ?? [])];
    this.layouts = new Map();
    for (const cell of this.cells) {
      const layouts = this.layouts.get(cell.strategy) ?? new Set();
      this.layouts.set(cell.strategy, layouts.add(this.layoutOf(cell)));
    }
    this.perWorker = this.strategiesWithServerPerWorker();
    this.words = new Map(this.cells.flatMap((cell) => Object.entries(cell.conditions ?? {})
      .map(([key, words]) => [`${key} ${cell.varied[key]}`, withoutName(key, words)])));
    this.labels = unique(this.cells.map((cell) => this.seriesOf(cell)));
    this.lineLabels = unique(this.cells.flatMap((cell) => this.linesOf(cell)));
  }

  /** Strategies that ran with as many dedicated servers as workers, at several numbers of workers. */
  strategiesWithServerPerWorker() {
    const counts = new Map();
    for (const cell of this.cells.filter((one) => one.servers && !one.colocated && one.servers === one.workers)) {
      counts.set(cell.strategy, (counts.get(cell.strategy) ?? new Set()).add(cell.workers));
    }
    return new Set([...counts].filter(([, workers]) => workers.size > 1).map(([strategy]) => strategy));
  }

  /** The lines over workers that contain a cell. A cell with as many servers as workers is on two lines: the one of its
      number of servers, if that has other points, and "a server per worker". */
  linesOf(cell) {
    const own = this.seriesOf(cell);
    if (cell.colocated || cell.servers !== cell.workers || !this.perWorker.has(cell.strategy)) return [own];
    const line = `${cell.strategy}, a server per worker${this.transportNote(cell)}`;
    const alike = this.cells.some((other) => other.workers !== cell.workers && this.seriesOf(other) === own);
    return alike ? [own, line] : [line];
  }

  transportNote(cell) {
    const chosen = chosenTransport(cell);
    return chosen && this.serverTransports.length > 1 ? ` (${chosen})` : "";
  }

  /** The label of a cell's line: the strategy, and its servers where the study varies them. */
  seriesOf(cell) {
    let label = cell.strategy;
    if (cell.servers && this.layouts.get(cell.strategy).size > 1) {
      label += `, ${this.layoutOf(cell)}`;
    }
    return label + this.transportNote(cell);
  }

  /** How a cell places its servers. A server in every worker is one layout, at any number of workers. */
  layoutOf(cell) {
    if (cell.colocated) return cell.servers === cell.workers ? "co-located" : `${cell.servers} co-located`;
    return `${cell.servers} server${cell.servers > 1 ? "s" : ""}`;
  }

  valueOf(cell, dimension) {
    return String(dimension === "workers" ? cell.workers : cell.varied[dimension]);
  }
  valuesOf(dimension, cells = this.cells) {
    const values = unique(cells.map((cell) => this.valueOf(cell, dimension)));
    // Other values keep the order of the cells, which knows rates from names.
    return values.every(isNumber) ? values.sort((a, b) => a - b) : values;
  }
  nameOf(dimension) { return keyName(dimension); }
  /** The value in words: "100 Mbit/s", "no straggler". */
  textOf(dimension, value) { return this.words.get(`${dimension} ${value}`) ?? keyValue(dimension, value); }
  /** The value with its noun, for text without a title beside it: "4 workers". */
  placeOf(dimension, value) {
    return dimension === "workers" ? `${value} worker${value === "1" ? "" : "s"}` : this.textOf(dimension, value);
  }
  isNumeric(dimension) {
    return this.valuesOf(dimension).every(isNumber);
  }
}

/** What the charts show: one dimension along x, and one value of every other dimension. */
export class View {
  constructor(study) {
    this.study = study;
    this.listeners = [];
    const varied = study.dimensions.filter((dimension) => study.valuesOf(dimension).length > 1);
    this.choices = varied.length > 0 ? varied : ["workers"];
    this.x = this.choices[0];
    this.fixed = {};
    this.chooseDefaults();
  }

  others() { return this.choices.filter((dimension) => dimension !== this.x); }

  /** Chooses for each dimension, in order, the value with the most cells. */
  chooseDefaults() {
    this.fixed = {};
    for (const dimension of this.others()) {
      let best = null;
      let most = -1;
      const cells = this.cells();
      for (const value of this.study.valuesOf(dimension, cells)) {
        const count = cells.filter((cell) => this.study.valueOf(cell, dimension) === value).length;
        if (count >= most) [best, most] = [value, count];
      }
      this.fixed[dimension] = best;
    }
  }

  cells() {
    return this.study.cells.filter((cell) =>
      Object.entries(this.fixed).every(([dimension, value]) => this.study.valueOf(cell, dimension) === value));
  }

  setX(dimension) { this.x = dimension; this.chooseDefaults(); this.changed(); }
  fix(dimension, value) { this.fixed[dimension] = value; this.changed(); }
  onChange(listener) { this.listeners.push(listener); }
  changed() { for (const listener of this.listeners) listener(); }

  /** "model: resnet50, workers: 4" */
  describe() {
    return this.others().map((d) => `${this.study.nameOf(d)}: ${this.study.textOf(d, this.fixed[d])}`).join(", ");
  }

  /** [label, cells by x] of every line: `series()`, and over workers also the lines with a server per worker. */
  lines() {
    return this.x === "workers" ? this.series((cell) => this.study.linesOf(cell), this.study.lineLabels) : this.series();
  }

  /** [label, cells by x] of every set of bars; each cell is in one of them. */
  series(labelsOf = (cell) => [this.study.seriesOf(cell)], labels = this.study.labels) {
    const cells = this.cells();
    const order = this.study.valuesOf(this.x, cells);
    return labels
      .map((label) => [label, cells.filter((cell) => labelsOf(cell).includes(label))
        .sort((a, b) => order.indexOf(this.study.valueOf(a, this.x)) - order.indexOf(this.study.valueOf(b, this.x)))])
      .filter(([, own]) => own.length > 0);
  }
}
