// The versions of the parameters on each node, and how many versions a worker is behind.
import { axisHeight, axisOf, drawAxis, drawNow, pageKey, timeHit } from "./axis.js";
import { ms } from "./format.js";
import { after } from "./intervals.js";
import { fit } from "./surface.js";

export class Versions {
  constructor(run) {
    this.run = run;
    this.name = "versions";
    this.title = "Versions of the parameters";
    this.hint = "v3–4: some parts have version 3, some 4. A bar along the top: parts of the node are behind.";
    this.history = historyOf(run);
    this.nodes = run.nodes.filter((node) => this.history[node.index].time.length > 0);
  }

  rowHeight(theme) { return Math.round(29 * theme.scale); }
  heightOf(width, theme) { return axisHeight(theme) + Math.max(1, this.nodes.length) * this.rowHeight(theme); }
  keyOf(frame) { return pageKey(frame); }

  still(surface, frame) {
    const axis = axisOf(frame), { theme } = frame;
    if (this.nodes.length === 0) return surface.text(0, axisHeight(theme) + 14, "The record has no versions.", { size: 12 * theme.scale, fill: theme.soft });
    drawAxis(surface, frame, axis);
    this.nodes.forEach((node, i) => {
      const top = axisHeight(theme) + i * this.rowHeight(theme);
      surface.text(0, top + 12 * theme.scale, fit(node.name, axis.left - 8, 13 * theme.scale), { size: 11.5 * theme.scale, fill: theme.ink, weight: 600 });
      this.drawBlocks(surface, axis, this.history[node.index], top + 3, theme);
    });
  }

  drawBlocks(surface, axis, history, y, theme) {
    const h = this.rowHeight(theme) - 6, size = 10.5 * theme.scale;
    let right = axis.left;
    for (let i = Math.max(0, after(history.time, axis.begin) - 1); i < history.time.length && history.time[i] < axis.end; ++i) {
      const x0 = Math.max(axis.left, axis.x(history.time[i])), x1 = Math.min(axis.right, axis.x(history.time[i + 1] ?? this.run.end));
      if (x1 - right < 0.7) continue;
      right = x1;
      surface.rect(x0, y, x1 - x0, h, { fill: history.low[i] % 2 === 0 ? theme.forward : theme.backward, alpha: 0.28 });
      if (history.behind[i] > 0) surface.rect(x0, y, x1 - x0, Math.min(h * 0.4, 2.5 * theme.scale * history.behind[i]), { fill: theme.wait });
      surface.path([[x0, y], [x0, y + h]], { stroke: theme.back, width: 1 });
      const words = versionText(history, i);
      if (x1 - x0 > words.length * size * 0.62 + 6) surface.text(x0 + 4, y + h - 6 * theme.scale, words, { size, fill: theme.ink });
    }
  }

  /** What a node has at a time, in words. */
  now(node, time) {
    const history = this.history[node];
    const i = Math.max(0, after(history.time, time) - 1);
    if (history.time.length === 0) return "";
    return `${versionText(history, i)}${history.behind[i] > 0 ? `, ${history.behind[i]} behind` : ""}`;
  }

  moving(surface, frame) {
    const { theme } = frame;
    if (this.nodes.length === 0) return;
    drawNow(surface, frame, axisOf(frame));
    this.nodes.forEach((node, i) => {
      const words = this.now(node.index, frame.time);
      surface.text(0, axisHeight(theme) + i * this.rowHeight(theme) + 24 * theme.scale, words, { size: 10.5 * theme.scale, fill: words.includes("behind") ? theme.wait : theme.soft });
    });
  }

  tip(x, y, frame) {
    const hit = timeHit(x, frame);
    const node = this.nodes[Math.floor((y - axisHeight(frame.theme)) / this.rowHeight(frame.theme))];
    return hit && node ? `${node.name} at ${ms(hit.time)}: ${this.now(node.index, hit.time)}` : "";
  }

  hit(x, y, frame) { return timeHit(x, frame); }

  label(frame) { return `${this.title}. ${this.nodes.map((node) => `${node.name}: ${this.now(node.index, frame.time)}`).join("; ")}.`; }
}

function versionText(history, i) {
  return history.low[i] === history.high[i] ? `v${history.low[i]}` : `v${history.low[i]}–${history.high[i]}`;
}

/** Counts how many parts have each value, so that the lowest and the highest are cheap to know. */
class Tally {
  constructor() { this.counts = new Map(); this.low = this.high = 0; }
  change(before, now) {
    if (before !== null) {
      const left = this.counts.get(before) - 1;
      if (left > 0) this.counts.set(before, left); else this.counts.delete(before);
    }
    this.counts.set(now, (this.counts.get(now) ?? 0) + 1);
    if (now > this.high || this.counts.size === 1 || !this.counts.has(this.high)) this.high = Math.max(...this.counts.keys());
    if (now < this.low || this.counts.size === 1 || !this.counts.has(this.low)) this.low = Math.min(...this.counts.keys());
  }
}

/** For each node {time, low, high, behind}: the versions of its parts, where they change. */
function historyOf(run) {
  const events = eventsOf(run);
  const newest = new Map();
  const nodes = run.nodes.map(() => ({ parts: new Map(), versions: new Tally(), lags: new Tally(), time: [], low: [], high: [], behind: [] }));
  const holders = new Map();
  for (const event of events) {
    const own = nodes[event.node];
    const had = own.parts.get(event.part) ?? null;
    const lead = Math.max(newest.get(event.part) ?? event.version, event.version);
    if (!holders.has(event.part)) holders.set(event.part, new Set());
    setPart(own, event, had, newest.get(event.part) ?? event.version, lead);
    note(own, event.time);
    if (lead > (newest.get(event.part) ?? -Infinity)) lagOthers(nodes, holders.get(event.part), event, newest.get(event.part) ?? lead, lead);
    newest.set(event.part, lead);
    holders.get(event.part).add(event.node);
  }
  return nodes;
}

function setPart(own, event, had, leadBefore, lead) {
  own.versions.change(had, event.version);
  own.lags.change(had === null ? null : leadBefore - had, lead - event.version);
  own.parts.set(event.part, event.version);
}

function lagOthers(nodes, holders, event, before, lead) {
  for (const node of holders) {
    if (node === event.node) continue;
    const held = nodes[node].parts.get(event.part);
    nodes[node].lags.change(before - held, lead - held);
    note(nodes[node], event.time);
  }
}

function note(own, time) {
  const last = own.time.length - 1;
  const values = [own.versions.low, own.versions.high, own.lags.high];
  if (last >= 0 && own.low[last] === values[0] && own.high[last] === values[1] && own.behind[last] === values[2]) return;
  if (last >= 0 && own.time[last] === time) { [own.low[last], own.high[last], own.behind[last]] = values; return; }
  own.time.push(time);
  own.low.push(values[0]);
  own.high.push(values[1]);
  own.behind.push(values[2]);
}

/** The version that each worker's first push of a part was computed from. */
function heldFirst(run) {
  const { transfers } = run;
  const held = new Map();
  for (let i = 0; i < transfers.count; ++i) {
    const name = `${transfers.from[i]} ${transfers.bucket[i]} ${transfers.offset[i]}`;
    if (run.phase(i) === "push" && transfers.version[i] >= 0 && !held.has(name)) held.set(name, transfers.version[i]);
  }
  return held;
}

/** Versions as they come to nodes: updates where they end, answers of servers where they arrive. */
function eventsOf(run) {
  const { updates, transfers } = run;
  const events = [];
  const first = new Set();
  const held = heldFirst(run);
  const say = (time, node, part, version) => {
    // What a node had before its first change: what its first push says, or the version before.
    const name = `${node} ${part}`;
    if (!first.has(name)) { first.add(name); events.push({ time: run.begin, node, part, version: held.get(name) ?? version - 1 }); }
    events.push({ time, node, part, version });
  };
  const rows = [];
  for (let i = 0; i < updates.count; ++i) if (updates.version[i] >= 0) rows.push([updates.end[i], 0, i]);
  for (let i = 0; i < transfers.count; ++i) if (transfers.version[i] >= 0 && run.phase(i) === "pull") rows.push([transfers.arrived[i], 1, i]);
  rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  for (const [time, kind, i] of rows) {
    if (kind === 0) say(time, updates.node[i], `${updates.bucket[i]} ${updates.offset[i]}`, updates.version[i]);
    else say(time, transfers.to[i], `${transfers.bucket[i]} ${transfers.offset[i]}`, transfers.version[i]);
  }
  return events.sort((a, b) => a.time - b.time);
}
