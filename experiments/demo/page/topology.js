// The topology: nodes, what they hold and do, and the chunks on their way, each from its place in the sender's parameters to
// its place in the receiver's.
import { layoutOf } from "./layout.js";
import { bucketColour } from "./look.js";
import { bytes } from "./format.js";
import { fit } from "./surface.js";

const WORDS = { forward: "forward", backward: "backward", await: "waits", reduce: "adds", apply: "updates", data: "loads data", evaluate: "evaluates", codec: "encodes" };
const MOST_CHUNKS = 400;

export class Topology {
  constructor(run, waiting, amounts, selection) {
    Object.assign(this, { run, waiting, amounts, selection });
    this.name = "topology";
    this.title = "Who sends what to whom";
    this.hint = "Each bar is all parameters of a node. Click a moving chunk to follow it.";
    this.edges = edgesOf(run);
  }

  heightOf(width, theme) { return layoutOf(this.run, width, theme.scale).height + this.legendHeight(theme); }
  legendHeight(theme) { return Math.round(22 * theme.scale); }
  keyOf() { return ""; }

  place(frame) {
    const key = `${frame.width} ${frame.theme.scale}`;
    if (this.placed?.key !== key) this.placed = { key, ...layoutOf(this.run, frame.width, frame.theme.scale) };
    return this.placed;
  }

  still(surface, frame) {
    const { boxes } = this.place(frame);
    for (const [from, to] of this.edges) {
      const [a, b] = [boxes[from], boxes[to]];
      surface.path([[a.x, a.y], [b.x, b.y]], { stroke: frame.theme.line, width: 3 });
    }
    this.drawLegend(surface, frame);
    if (this.run.transfers.count > 0 && this.hidden()) surface.text(frame.width / 2, frame.height / 2 + 22 * frame.theme.scale, "The library hides its chunks", { size: 12 * frame.theme.scale, fill: frame.theme.soft, anchor: "middle" });
  }

  drawLegend(surface, frame) {
    const { theme } = frame;
    const size = 10.5 * theme.scale, y = frame.height - 6;
    const shown = Math.min(this.run.buckets.length, frame.width < 480 ? 3 : 6);
    let x = 4;
    for (let bucket = 0; bucket < shown; ++bucket) {
      surface.rect(x, y - size + 1, size, size, { fill: bucketColour(bucket) });
      const words = `bucket ${bucket}`;
      surface.text(x + size + 4, y, words, { size, fill: theme.soft });
      x += size + 12 + words.length * size * 0.58;
    }
    if (this.run.buckets.length > shown) surface.text(x, y, `… ${this.run.buckets.length} buckets`, { size, fill: theme.soft });
    else if (frame.width - x > 330 * theme.scale) surface.text(frame.width - 4, y, "full height: all gradients summed; pale: result there", { size, fill: theme.soft, anchor: "end" });
  }

  hidden() { return this.run.transfers.to.every((to) => to < 0); }

  moving(surface, frame) {
    this.amounts.moveTo(frame.time);
    const { boxes } = this.place(frame);
    this.drawn = this.chunksOf(frame, boxes);
    this.noteLinks(frame);
    this.drawRoute(surface, frame, boxes);
    for (const node of this.run.nodes) this.drawWait(surface, frame, boxes, node);
    for (const chunk of this.drawn) this.drawTrail(surface, chunk);
    // Few chunks move over the boxes to their places; many would hide the boxes, so they go under them.
    const crowded = this.drawn.length > 4 * this.run.nodes.length;
    if (crowded) for (const chunk of this.drawn) this.drawChunk(surface, frame, chunk);
    for (const node of this.run.nodes) this.drawNode(surface, frame, boxes[node.index], node);
    if (!crowded) for (const chunk of this.drawn) this.drawChunk(surface, frame, chunk);
  }

  /** Who sends and who receives now: the words for a node whose threads have nothing else to do. */
  noteLinks(frame) {
    const { from, to, sent } = this.run.transfers;
    this.links = new Map();
    for (const { row } of this.drawn) this.links.set(to[row], "receives");
    for (const { row } of this.drawn) if (frame.time < sent[row]) this.links.set(from[row], "sends");
  }

  drawNode(surface, frame, box, node) {
    const { theme } = frame;
    const doing = this.waiting.doing(node.index, frame.time);
    const waits = doing?.kind === "await";
    const size = 12 * theme.scale, [left, top] = [box.x - box.w / 2, box.y - box.h / 2];
    const edge = waits ? theme.wait : doing ? theme.accent : theme.line;
    surface.rect(left, top, box.w, box.h, { fill: theme.panel, stroke: edge, width: doing ? 2 : 1, dash: waits ? [5, 3] : [], radius: node.kind === "server" ? 2 : 9 });
    surface.text(box.x, top + size + 2, fit(node.name, box.w - 8, size * 1.08), { size, fill: theme.ink, anchor: "middle", weight: 600 });
    const word = doing ? WORDS[doing.kind] ?? doing.kind : this.links.get(node.index) ?? "idle";
    const small = box.h < 46 * theme.scale;
    if (!small) surface.text(box.x, top + 2 * size + 4, fit(word, box.w - 6, size * 0.92), { size: size * 0.92, fill: waits ? theme.wait : theme.soft, anchor: "middle", weight: waits ? 600 : 400 });
    this.drawBar(surface, frame, this.barOf(frame, box), node);
  }

  /** The place of a node's parameters inside its box. */
  barOf(frame, box) {
    const h = 13 * frame.theme.scale;
    return { x: box.x - box.w / 2 + 6, y: box.y + box.h / 2 - h - 5, w: box.w - 12, h };
  }

  /** A part's fill shows how many of the workers' gradients are in its sum; a full part with a base line holds the result. */
  drawBar(surface, frame, bar, node) {
    const { theme } = frame;
    surface.rect(bar.x, bar.y, bar.w, bar.h, { fill: theme.back, stroke: theme.line });
    for (const part of this.amounts.bars(node.index, bar.w)) {
      const colour = bucketColour(part.bucket);
      const gap = part.w > 3 ? 0.5 : 0;
      if (part.done) surface.rect(bar.x + part.x, bar.y, part.w - gap, bar.h, { fill: colour, alpha: theme.pale });
      else if (part.share > 0) surface.rect(bar.x + part.x, bar.y + bar.h * (1 - part.share), part.w - gap, bar.h * part.share, { fill: colour });
    }
  }

  /** Where a chunk lies in a node's bar. */
  spot(frame, box, row) {
    const { bucket, offset } = this.run.transfers;
    const bar = this.barOf(frame, box);
    const at = (this.run.starts[bucket[row]] ?? 0) + Math.max(0, offset[row]);
    return [bar.x + bar.w * Math.min(1, at / this.run.parameters), bar.y];
  }

  chunksOf(frame, boxes) {
    const chunks = [];
    this.run.moving.at(frame.time, (row) => { if (chunks.length < MOST_CHUNKS) chunks.push(this.chunkOf(frame, boxes, row)); });
    return chunks;
  }

  /** A chunk on its way: where it began, where it is, and how large it is. */
  chunkOf(frame, boxes, row) {
    const { from, to, bucket, elements, begin, arrived } = this.run.transfers;
    const source = this.spot(frame, boxes[from[row]], row);
    const target = to[row] < 0 ? [frame.width / 2, frame.height / 2] : this.spot(frame, boxes[to[row]], row);
    // Without motion a chunk rests in the middle of its way.
    const share = frame.calm ? 0.5 : (frame.time - begin[row]) / Math.max(1, arrived[row] - begin[row]);
    const bar = this.barOf(frame, boxes[from[row]]);
    const w = Math.max(8, bar.w * elements[row] / this.run.parameters), h = bar.h;
    const x = source[0] + (target[0] - source[0]) * share, y = source[1] + (target[1] - source[1]) * share;
    return { row, source, x, y, w, h, colour: bucketColour(bucket[row]), chosen: this.selection.isChunk(this.run, row) };
  }

  drawTrail(surface, { source, x, y, w, h, colour, chosen }) {
    surface.path([[source[0] + w / 2, source[1] + h / 2], [x + w / 2, y + h / 2]], { stroke: colour, width: chosen ? 4 : 2.5, alpha: chosen ? 0.9 : 0.45 });
  }

  drawChunk(surface, frame, { x, y, w, h, colour, chosen }) {
    surface.rect(x, y, w, h, { fill: colour, stroke: chosen ? frame.theme.ink : frame.theme.back, width: chosen ? 3 : 1.5, radius: 2 });
  }

  /** A dotted line from a waiting node to the one that it waits for. */
  drawWait(surface, frame, boxes, node) {
    // The lines would answer the question.
    const wait = node.kind === "worker" && !frame.asking ? this.waiting.waitOf(node.index, frame.time) : null;
    if (!wait) return;
    const a = boxes[node.index];
    for (const other of new Set(wait.whom.slice(-1))) {
      const b = boxes[other];
      if (!b || other === node.index) continue;
      surface.path(bow(a, b, frame), { stroke: frame.theme.wait, width: 1.5, dash: [2, 4] });
    }
  }

  /** The whole way of the chosen chunk, each hop numbered. */
  drawRoute(surface, frame, boxes) {
    const rows = this.selection.routeOf(this.run);
    const { from, to } = this.run.transfers;
    rows.slice(0, 64).forEach((row, hop) => {
      const a = boxes[from[row]], b = to[row] < 0 ? { x: frame.width / 2, y: frame.height / 2 } : boxes[to[row]];
      surface.path([[a.x, a.y], [b.x, b.y]], { stroke: frame.theme.accent, width: 5, alpha: 0.35 });
      // Nearer to the sender, so the numbers of both directions of a link do not cover each other.
      const [x, y] = [a.x + (b.x - a.x) * 0.38, a.y + (b.y - a.y) * 0.38];
      if (rows.length <= 2 * this.run.nodes.length && hop < this.run.nodes.length) surface.text(x, y - 8, String(hop + 1), { size: 11 * frame.theme.scale, fill: frame.theme.accent, anchor: "middle", weight: 700 });
    });
  }

  /** The chunk at a place: the nearest within a finger's width. */
  hit(x, y) {
    let best = null, least = 22;
    for (const one of this.drawn ?? []) {
      const away = Math.hypot(one.x + one.w / 2 - x, one.y + one.h / 2 - y);
      if (away < least) { least = away; best = one.row; }
    }
    return best === null ? null : { row: best };
  }

  tip(x, y) {
    const found = this.hit(x, y);
    return found ? this.run.chunkText(found.row) : "";
  }

  label(frame) {
    const { from, to, bytes: size } = this.run.transfers;
    const moving = [];
    this.run.moving.at(frame.time, (row) => moving.push(row));
    const some = moving.slice(0, 6).map((row) => `${this.run.nameOf(from[row])} to ${this.run.nameOf(to[row])}, ${bytes(size[row])}`);
    return `${this.title}. ${moving.length} chunks are on their way${some.length > 0 ? `: ${some.join("; ")}` : ""}.`;
  }
}

/** A bow from `a` to `b`, bent towards the middle of the picture, so that it leaves links and other nodes free. */
function bow(a, b, frame) {
  const [x, y] = [(a.x + b.x) / 2, (a.y + b.y) / 2];
  const bend = 0.22 * Math.hypot(b.x - a.x, b.y - a.y);
  const [dx, dy] = [frame.width / 2 - x, frame.height / 2 - y];
  const away = Math.hypot(dx, dy);
  // A line through the middle bends to its side.
  const [ux, uy] = away > 1 ? [dx / away, dy / away] : [(b.y - a.y) / (bend / 0.22 || 1), (a.x - b.x) / (bend / 0.22 || 1)];
  const [cx, cy] = [x + ux * Math.min(bend, 90), y + uy * Math.min(bend, 90)];
  return Array.from({ length: 17 }, (_, i) => {
    const s = i / 16;
    return [(1 - s) ** 2 * a.x + 2 * s * (1 - s) * cx + s * s * b.x, (1 - s) ** 2 * a.y + 2 * s * (1 - s) * cy + s * s * b.y];
  });
}

/** The pairs of nodes between which chunks ever move. */
function edgesOf(run) {
  const seen = new Map();
  const { from, to, count } = run.transfers;
  for (let i = 0; i < count; ++i) {
    if (to[i] < 0 || from[i] === to[i]) continue;
    const pair = [Math.min(from[i], to[i]), Math.max(from[i], to[i])];
    seen.set(pair[0] * 65536 + pair[1], pair);
  }
  return [...seen.values()];
}
