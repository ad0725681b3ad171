// The page's data as objects. What is missing or damaged becomes a note; the rest is shown.
import { unpackTable } from "./decode.js";
import { bytes } from "./format.js";
import { Intervals, distinctTimes, groupRows } from "./intervals.js";

export const FORMAT = 1;
const SPANS = ["node", "lane", "kind", "step", "bucket", "begin", "end"];
const TRANSFERS = ["from", "to", "phase", "step", "bucket", "offset", "elements", "bytes", "begin", "sent", "asked", "arrived", "version", "staleness"];
const UPDATES = ["node", "step", "bucket", "offset", "elements", "version", "last", "begin", "end"];

const list = (value) => (Array.isArray(value) ? value : []);
const number = (value, otherwise = null) => (typeof value === "number" && Number.isFinite(value) ? value : otherwise);
const text = (value) => (value === null || value === undefined ? "" : String(value));

/**
 * Since when each chunk is on the links. A sender's transport takes many chunks at once, and they leave one after the other: the
 * next one when the one before has arrived.
 */
function crossings({ count, from, begin, arrived }) {
  const order = Array.from({ length: count }, (_, i) => i).sort((a, b) => begin[a] - begin[b] || arrived[a] - arrived[b]);
  const free = new Map();
  const crosses = Float64Array.from(begin);
  for (const row of order) {
    const before = free.get(from[row]) ?? -1;
    crosses[row] = Math.min(Math.max(begin[row], before), arrived[row]);
    free.set(from[row], Math.max(before, arrived[row]));
  }
  return crosses;
}

/** Thrown when a page has no data that this script can show. Its message is for the reader. */
export class DataProblem extends Error {}

/** Reads the JSON text of a page. */
export function readPage(json) {
  let data;
  try { data = JSON.parse(json); } catch { throw new DataProblem("The data of this page is damaged or cut off, so there is nothing to show. Make the page again with ringside demo."); }
  const format = number(data?.format);
  if (format === null) throw new DataProblem("This page holds no recorded runs. Make it again with ringside demo.");
  if (format > FORMAT) throw new DataProblem(`The data has format ${format}; this page reads formats up to ${FORMAT}. Make the page with a newer Ringside.`);
  const runs = list(data.runs).slice(0, 2).map((run, i) => new Run(run ?? {}, i));
  if (runs.length === 0) throw new DataProblem("The data holds no run. Make the page again with ringside demo RUN.");
  return { runs, made: data.made ?? {} };
}

export class Run {
  constructor(raw, index) {
    this.index = index;
    for (const key of ["title", "id", "strategy", "family", "topology", "model", "network", "bound_resource", "status"]) this[key] = text(raw[key]);
    for (const key of ["step_ms", "bound_ms", "achievable_ms", "link_bytes_per_s"]) this[key] = number(raw[key]);
    this.title ||= this.strategy || `run ${index + 1}`;
    this.emulated = raw.emulated === true;
    this.colocated = raw.servers_in_workers === true;
    this.dilation = number(raw.dilation, 1);
    this.step_interval_ms = list(raw.step_interval_ms).length === 2 ? raw.step_interval_ms.map((end) => number(end)) : null;
    this.nodes = list(raw.nodes).map((node, i) => ({ name: text(node?.name) || `node ${i}`, kind: node?.kind === "server" ? "server" : "worker", host: text(node?.host), index: i }));
    this.workers = this.nodes.filter((node) => node.kind === "worker");
    this.servers = this.nodes.filter((node) => node.kind === "server");
    this.buckets = list(raw.buckets).map((size) => Math.max(0, number(size, 0)));
    this.notes = list(raw.notes).map(text);
    for (const key of ["span_kinds", "lanes", "phases"]) this[key] = list(raw[key]).map(text);
    this.readTables(raw);
    this.placeBuckets(number(raw.parameters, 0));
    this.readWindow(raw);
    this.index_();
  }

  readTables(raw) {
    const known = (node) => node >= 0 && node < this.nodes.length;
    this.spans = unpackTable(raw.spans, SPANS, (of) => known(of("node")) && of("kind") >= 0 && of("kind") < this.span_kinds.length && of("end") >= of("begin"));
    this.transfers = unpackTable(raw.transfers, TRANSFERS, (of) => known(of("from")) && (of("to") === -1 || known(of("to"))) && of("phase") >= 0 && of("phase") < this.phases.length && of("begin") >= 0);
    this.updates = unpackTable(raw.updates, UPDATES, (of) => known(of("node")) && of("end") >= of("begin"));
    // A chunk whose end is unknown ends where it was sent, or at once.
    const { begin, sent, arrived } = this.transfers;
    for (let i = 0; i < this.transfers.count; ++i) {
      if (arrived[i] < begin[i]) arrived[i] = Math.max(sent[i], begin[i]);
      if (sent[i] < begin[i] || sent[i] > arrived[i]) sent[i] = arrived[i];
    }
    this.transfers.crosses = crossings(this.transfers);
    for (const [name, words] of [["spans", "spans"], ["transfers", "chunks"], ["updates", "updates"]]) {
      if (this[name].lost > 0) this.notes.push(`${this[name].lost.toLocaleString("en-US")} of ${(this[name].count + this[name].lost).toLocaleString("en-US")} ${words} cannot be read: the record is cut off or damaged.`);
    }
    this.empty = this.spans.count + this.transfers.count + this.updates.count === 0;
    if (this.empty) this.notes.push("Nothing is left of the record of this run, so only its figures are shown.");
    else if (this.transfers.count === 0 && this.spans.count > 0) this.notes.push("This run has no record of its chunks, so only spans are shown.");
  }

  /** Where each bucket begins when all buckets lie one after the other. */
  placeBuckets(parameters) {
    const largest = this.transfers.bucket.reduce((most, bucket) => Math.max(most, bucket), -1);
    while (this.buckets.length <= largest && this.buckets.length < 4096) this.buckets.push(1);
    this.starts = [];
    let at = 0;
    for (const size of this.buckets) { this.starts.push(at); at += size; }
    this.parameters = Math.max(at, 1);
    this.parametersSaid = parameters || at;
  }

  readWindow(raw) {
    const columns = [this.spans.end, this.transfers.arrived, this.updates.end];
    const last = columns.reduce((most, column) => column.reduce((a, b) => Math.max(a, b), most), 0);
    this.steps = list(raw.steps).filter((one) => number(one?.begin_us) !== null && number(one?.end_us) !== null && one.end_us > one.begin_us)
      .sort((a, b) => a.begin_us - b.begin_us);
    this.begin = number(raw.window?.begin_us, 0);
    this.end = Math.max(number(raw.window?.end_us, 0), last, this.begin + 1, ...this.steps.slice(-1).map((one) => one.end_us));
  }

  index_() {
    const { spans, transfers, updates } = this;
    const all = (count) => Array.from({ length: count }, (_, i) => i);
    this.moving = new Intervals(transfers.begin, transfers.arrived, all(transfers.count));
    this.spansOf = new Map([...groupRows(spans.count, (row) => spans.node[row])].map(([node, rows]) => [node, new Intervals(spans.begin, spans.end, rows)]));
    this.eventTimes = distinctTimes([spans.begin, spans.end, transfers.begin, transfers.arrived, updates.end]);
    this.chunkTimes = distinctTimes([transfers.arrived]);
    this.kinds = Object.fromEntries(this.span_kinds.map((name, i) => [name, i]));
    this.phaseOf = Object.fromEntries(this.phases.map((name, i) => [name, i]));
  }

  /** The step of the training loop that contains a time; the last one that has begun by then; null without steps. */
  stepAt(time) {
    let found = null;
    for (const step of this.steps) if (step.begin_us <= time) found = step;
    return found ?? this.steps[0] ?? null;
  }

  /** A chunk in words. */
  chunkText(row) {
    const { from, to, bucket, step, bytes: size } = this.transfers;
    return `${this.nameOf(from[row])} → ${this.nameOf(to[row])}, ${this.phase(row)} of bucket ${bucket[row]}, step ${step[row]}: ${bytes(size[row])}`;
  }

  phase(row) { return this.phases[this.transfers.phase[row]]; }
  kind(row) { return this.span_kinds[this.spans.kind[row]]; }
  nameOf(node) { return this.nodes[node]?.name ?? "the library"; }
}
