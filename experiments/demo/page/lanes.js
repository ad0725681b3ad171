// A lane for each node: what it computes, sends, receives and reduces. Bars narrower than a pixel are merged.
import { axisHeight, axisOf, drawAxis, drawNow, pageKey, timeHit } from "./axis.js";
import { Intervals } from "./intervals.js";
import { bucketColour } from "./look.js";
import { ms } from "./format.js";
import { fit } from "./surface.js";

const CHUNKS = new Set(["send", "receive"]);
const STRIPS = { worker: ["compute", "send", "receive", "reduce"], server: ["receive", "reduce", "send"] };

export class Lanes {
  constructor(run, waiting, selection) {
    Object.assign(this, { run, waiting, selection });
    this.name = "lanes";
    this.title = "What each node does";
    this.hint = "From the top: compute (dark: forward, light: backward, thin line: waiting), send, receive, reduce. Other colours: the bucket.";
    this.strips = run.nodes.map((node) => STRIPS[node.kind].map((name) => ({ name, bars: stripOf(run, node.index, name) })));
    this.changes = 0;
    selection.onChange(() => { ++this.changes; });
  }

  sizes(theme, width) {
    const few = this.run.nodes.length <= 6;
    return { strip: (few ? 10 : 7) * theme.scale, gap: 2, pad: 7 * theme.scale, labels: few && width >= 420 };
  }

  rowHeight(node, sizes) { return this.strips[node].length * (sizes.strip + sizes.gap) + sizes.pad; }
  heightOf(width, theme) {
    const sizes = this.sizes(theme, width);
    return Math.round(axisHeight(theme) + this.run.nodes.reduce((sum, node) => sum + this.rowHeight(node.index, sizes), 0));
  }
  keyOf(frame) { return `${pageKey(frame)} ${this.changes}`; }

  still(surface, frame) {
    const axis = axisOf(frame), sizes = this.sizes(frame.theme, frame.width);
    drawAxis(surface, frame, axis);
    let y = axisHeight(frame.theme);
    for (const node of this.run.nodes) {
      const height = this.rowHeight(node.index, sizes);
      surface.path([[0, y], [axis.right, y]], { stroke: frame.theme.line });
      const size = 11.5 * frame.theme.scale;
      const room = axis.left - 6 - (sizes.labels ? 44 * frame.theme.scale : 0);
      surface.text(0, y + size + 3, fit(node.name, room, size * 1.12), { size, fill: frame.theme.ink, weight: 600 });
      this.strips[node.index].forEach((strip, i) => this.drawStrip(surface, frame, axis, strip, y + sizes.pad / 2 + i * (sizes.strip + sizes.gap), sizes));
      y += height;
    }
  }

  drawStrip(surface, frame, axis, strip, y, sizes) {
    const { theme } = frame;
    const size = 9 * theme.scale;
    if (sizes.labels) surface.text(axis.left - 5, y + sizes.strip - 1, strip.name, { size, fill: theme.soft, anchor: "end" });
    let right = -1, colour = "";
    strip.bars.overlapping(axis.begin, axis.end, (row) => {
      const bar = this.barOf(strip, row, theme);
      const x0 = Math.max(axis.left, axis.x(bar.begin)), x1 = Math.min(axis.right, Math.max(axis.x(bar.end), x0 + 0.8));
      if (x1 - right < 0.5 && colour === bar.fill) return;
      right = Math.max(right, x1);
      colour = bar.fill;
      const thin = bar.thin ? sizes.strip * 0.32 : 0;
      if (bar.thin) surface.rect(x0, y, x1 - x0, sizes.strip, { fill: theme.back });
      surface.rect(x0, y + thin, x1 - x0, sizes.strip - 2 * thin, { fill: bar.fill });
      if (bar.chosen) surface.rect(x0, y - 1, Math.max(x1 - x0, 3), sizes.strip + 2, { stroke: theme.ink, width: 2 });
    });
  }

  /** How a row of a strip looks. */
  barOf(strip, row, theme) {
    const { spans, transfers } = this.run;
    if (strip.name === "send" || strip.name === "receive") {
      return { fill: bucketColour(transfers.bucket[row]), begin: transfers.crosses[row], end: transfers.arrived[row], chosen: this.selection.isChunk(this.run, row) };
    }
    const kind = this.run.kind(row);
    const own = { begin: spans.begin[row], end: spans.end[row] };
    if (kind === "await") return { ...own, fill: theme.wait, thin: true };
    if (strip.name === "reduce") return { ...own, fill: bucketColour(spans.bucket[row]) };
    return { ...own, fill: kind === "backward" ? theme.backward : kind === "forward" ? theme.forward : theme.soft };
  }

  moving(surface, frame) { drawNow(surface, frame, axisOf(frame)); }

  /** A click on a bar of a chunk chooses the chunk; elsewhere it means the time. */
  hit(x, y, frame) {
    const found = timeHit(x, frame);
    const bar = found && this.barAt(y, found.time, frame);
    return bar && CHUNKS.has(bar.strip.name) ? { row: bar.row } : found;
  }

  tip(x, y, frame) {
    const found = timeHit(x, frame);
    const bar = found && this.barAt(y, found.time, frame);
    if (!bar) return found ? ms(found.time) : "";
    if (CHUNKS.has(bar.strip.name)) return this.run.chunkText(bar.row);
    const { node, bucket, step, begin, end } = this.run.spans;
    const of = bucket[bar.row] >= 0 ? ` of bucket ${bucket[bar.row]}` : "";
    return `${this.run.nameOf(node[bar.row])}: ${this.run.kind(bar.row)}${of}, step ${step[bar.row]}: ${ms(end[bar.row] - begin[bar.row])}`;
  }

  /** The innermost bar within three pixels of a time, and its strip; null without one. */
  barAt(y, time, frame) {
    const strip = this.stripAt(y, this.sizes(frame.theme, frame.width), axisHeight(frame.theme));
    if (!strip) return null;
    const axis = axisOf(frame);
    const reach = axis.timeAt(axis.left + 3) - axis.timeAt(axis.left);
    let row = null;
    strip.bars.overlapping(time - reach, time + reach, (one) => { row = one; });
    return row === null ? null : { strip, row };
  }

  stripAt(y, sizes, top) {
    for (const node of this.run.nodes) {
      const height = this.rowHeight(node.index, sizes);
      if (y < top + height) return this.strips[node.index][Math.max(0, Math.floor((y - top - sizes.pad / 2) / (sizes.strip + sizes.gap)))];
      top += height;
    }
    return null;
  }

  label(frame) {
    const doing = this.run.nodes.map((node) => `${node.name}: ${this.waiting.doing(node.index, frame.time)?.kind ?? "idle"}`);
    return `${this.title}. ${doing.join("; ")}.`;
  }
}

function stripOf(run, node, name) {
  const { spans, transfers } = run;
  const rows = [];
  if (name === "send" || name === "receive") {
    const end = name === "send" ? transfers.from : transfers.to;
    for (let row = 0; row < transfers.count; ++row) if (end[row] === node && transfers.from[row] !== transfers.to[row]) rows.push(row);
    rows.sort((a, b) => transfers.crosses[a] - transfers.crosses[b]);
    return new Intervals(transfers.crosses, transfers.arrived, rows);
  }
  const kinds = new Set((name === "compute" ? ["data", "forward", "backward", "evaluate", "await"] : ["reduce", "apply", "codec"]).map((kind) => run.kinds[kind]));
  for (let row = 0; row < spans.count; ++row) if (spans.node[row] === node && kinds.has(spans.kind[row])) rows.push(row);
  return new Intervals(spans.begin, spans.end, rows);
}
