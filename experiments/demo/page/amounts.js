// How much of each part of the parameters a node holds at a time: gradients of how many workers are in the sum, and whether
// the result is there. A cell is a part (bucket, offset, elements) at a node. The state moves forward with the clock and is
// rebuilt when the clock jumps back.
import { after } from "./intervals.js";

const SPREADS = new Set(["all-gather", "broadcast", "pull", "gather", "slice", "all-reduce"]);

/** The parts of the parameters: the finest division that the chunks of the run make. */
function partsOf(run) {
  const edges = run.buckets.map((size) => new Set([0, size]));
  const { transfers } = run;
  for (let i = 0; i < transfers.count; ++i) {
    const bucket = transfers.bucket[i];
    if (bucket < 0 || bucket >= edges.length || transfers.offset[i] < 0) continue;
    edges[bucket].add(transfers.offset[i]);
    edges[bucket].add(Math.min(transfers.offset[i] + transfers.elements[i], run.buckets[bucket]));
  }
  const parts = [];
  edges.forEach((set, bucket) => {
    const sorted = [...set].sort((a, b) => a - b);
    for (let i = 0; i + 1 < sorted.length; ++i) parts.push({ bucket, offset: sorted[i], elements: sorted[i + 1] - sorted[i], at: run.starts[bucket] + sorted[i] });
  });
  return parts;
}

export class Amounts {
  constructor(run) {
    this.run = run;
    this.parts = partsOf(run);
    this.starts = Float64Array.from(this.parts, (part) => part.at);
    this.makeEvents();
    this.sum = new Float32Array(this.parts.length * run.nodes.length);
    this.done = new Uint8Array(this.sum.length);
    this.step = new Float64Array(this.sum.length);
    this.reset();
  }

  /**
   * What changes the state: a gradient is ready (0), a chunk arrives (1), leaves (2), leaves and arrives at the same time (3), an
   * update ends (4). Sorted by time; of two at one time the lower number comes first, because a node passes on what has arrived.
   */
  makeEvents() {
    const { spans, transfers, updates, kinds } = this.run;
    const events = [];
    for (let i = 0; i < spans.count; ++i) if (spans.kind[i] === kinds.submit) events.push([spans.end[i], 0, i]);
    for (let i = 0; i < updates.count; ++i) events.push([updates.end[i], 4, i]);
    for (let i = 0; i < transfers.count; ++i) {
      const instant = transfers.begin[i] === transfers.arrived[i];
      if (!instant) events.push([transfers.begin[i], 2, i]);
      events.push([transfers.arrived[i], instant ? 3 : 1, i]);
    }
    events.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    this.times = Float64Array.from(events, (event) => event[0]);
    this.what = Uint8Array.from(events, (event) => event[1]);
    this.row = Int32Array.from(events, (event) => event[2]);
    this.carried = new Float32Array(transfers.count);
  }

  reset() {
    this.sum.fill(0);
    this.done.fill(1);
    this.step.fill(-1);
    this.applied = 0;
    this.time = -Infinity;
  }

  moveTo(time) {
    const target = after(this.times, time);
    if (target < this.applied) this.reset();
    // Far jumps need only the last events; a cell's state depends on its last step.
    if (target - this.applied > 60000) { this.reset(); this.applied = target - 60000; }
    while (this.applied < target) this.apply(this.applied++);
  }

  apply(event) {
    const row = this.row[event];
    const what = this.what[event];
    if (what === 0) this.gradientReady(row);
    if (what === 2 || what === 3) this.leaves(row);
    if (what === 1 || what === 3) this.arrives(row);
    if (what === 4) this.updated(row);
  }

  /** Calls `each(cell)` for the cells of a node inside a part. */
  cells(node, bucket, offset, elements, each) {
    if (bucket < 0 || bucket >= this.run.starts.length) return;
    const from = this.run.starts[bucket] + Math.max(offset, 0);
    const to = from + (offset < 0 ? this.run.buckets[bucket] : elements);
    const first = Math.max(0, after(this.starts, from) - 1);
    for (let i = first; i < this.parts.length && this.starts[i] < to; ++i) each(node * this.parts.length + i);
  }

  begin(cell, step, sum) {
    if (this.step[cell] === step) return;
    this.step[cell] = step;
    this.sum[cell] = sum;
    this.done[cell] = 0;
  }

  gradientReady(row) {
    const { node, bucket, step } = this.run.spans;
    this.cells(node[row], bucket[row], -1, 0, (cell) => this.begin(cell, step[row], 1));
  }

  leaves(row) {
    const { from, bucket, offset, elements, step } = this.run.transfers;
    let carried = 1;
    this.cells(from[row], bucket[row], offset[row], elements[row], (cell) => { if (this.step[cell] === step[row]) carried = Math.max(this.sum[cell], 1); });
    this.carried[row] = this.run.phase(row) === "push" ? 1 : carried;
  }

  arrives(row) {
    const { from, to, bucket, offset, elements, step } = this.run.transfers;
    const spreads = SPREADS.has(this.run.phase(row));
    const target = to[row] < 0 ? from[row] : to[row];
    const own = this.run.nodes[target].kind === "worker" ? 1 : 0;
    const most = this.run.workers.length;
    this.cells(target, bucket[row], offset[row], elements[row], (cell) => {
      this.begin(cell, step[row], own);
      if (spreads) { this.sum[cell] = most; this.done[cell] = 1; } else this.sum[cell] = Math.min(most, this.sum[cell] + this.carried[row]);
    });
  }

  updated(row) {
    const { node, bucket, offset, elements, step } = this.run.updates;
    this.cells(node[row], bucket[row], offset[row], elements[row], (cell) => {
      this.step[cell] = step[row];
      this.sum[cell] = this.run.workers.length;
      this.done[cell] = 1;
    });
  }

  /** The bars of a node's parameters in `width` pixels: {x, w, bucket, share, done}. Narrow parts are merged. */
  bars(node, width) {
    const out = [];
    const scale = width / this.run.parameters;
    for (let i = 0; i < this.parts.length; ++i) {
      const part = this.parts[i];
      const cell = node * this.parts.length + i;
      const x = part.at * scale, w = part.elements * scale;
      const last = out.at(-1);
      if (last && last.w < 1.5) { last.w = x + w - last.x; continue; }
      out.push({ x, w, bucket: part.bucket, share: this.sum[cell] / Math.max(1, this.run.workers.length), done: this.done[cell] === 1 });
    }
    return out;
  }
}
