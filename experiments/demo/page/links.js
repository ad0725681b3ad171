// Each link's use: bytes out (upwards) and in (downwards) in every two pixels of the page, as a share of the link.
// What a link has carried by a time is in link_use.js.
import { axisHeight, axisOf, drawAxis, drawNow, pageKey, timeHit } from "./axis.js";
import { bytes, ms } from "./format.js";
import { LinkUse } from "./link_use.js";
import { fit } from "./surface.js";

const BIN_PX = 2;
const MOST_SHOWN = 1.1;

export class Links {
  constructor(run) {
    this.run = run;
    this.name = "links";
    this.names = linkNames(run);
    this.title = run.link_bytes_per_s === null ? "What each node sends and receives" : "Use of the links";
    this.hint = `Up: bytes out. Down: bytes in. ${hintOf(run)}`;
  }

  rowHeight(theme) { return Math.round(40 * theme.scale); }
  heightOf(width, theme) { return axisHeight(theme) + this.names.links.length * this.rowHeight(theme); }
  keyOf(frame) { return pageKey(frame); }

  still(surface, frame) {
    const axis = axisOf(frame), { theme } = frame;
    drawAxis(surface, frame, axis);
    this.use = this.useOf(axis);
    const height = this.rowHeight(theme), half = height / 2 - 3;
    this.names.links.forEach((name, link) => {
      const middle = axisHeight(theme) + link * height + height / 2;
      surface.text(0, middle - half + 9 * theme.scale, fit(name, axis.left - 8, 13 * theme.scale), { size: 11.5 * theme.scale, fill: theme.ink, weight: 600 });
      this.drawUse(surface, axis, this.use.out[link], middle, -half / MOST_SHOWN, theme.accent);
      this.drawUse(surface, axis, this.use.in[link], middle, half / MOST_SHOWN, theme.backward);
      surface.path([[axis.left, middle], [axis.right, middle]], { stroke: theme.soft, width: 1 });
      if (this.run.link_bytes_per_s === null) return;
      for (const side of [-1, 1]) surface.path([[axis.left, middle + side * half / MOST_SHOWN], [axis.right, middle + side * half / MOST_SHOWN]], { stroke: theme.line, dash: [3, 3] });
    });
  }

  drawUse(surface, axis, shares, middle, unit, fill) {
    const points = [[axis.left, middle]];
    shares.forEach((share, bin) => {
      const y = middle + unit * Math.min(share / this.use.full, MOST_SHOWN);
      const x = axis.left + bin * BIN_PX;
      // Equal neighbours need no points of their own.
      if (bin > 0 && Math.abs(shares[bin - 1] - share) <= this.use.full * 1e-6) { points.at(-1)[0] = Math.min(x + BIN_PX, axis.right); return; }
      points.push([x, y], [Math.min(x + BIN_PX, axis.right), y]);
    });
    points.push([points.at(-1)[0], middle]);
    surface.path(points, { fill, close: true });
  }

  /** Bytes per second of each link in each bin, the times of the bins' edges, and `full`, the rate of the whole height. */
  useOf(axis) {
    this.flows ??= flowsOf(this.run, this.names);
    const bins = Math.max(1, Math.ceil(axis.width / BIN_PX));
    const edges = Float64Array.from({ length: bins + 1 }, (_, bin) => axis.timeAt(axis.left + bin * BIN_PX));
    const rates = (flow) => {
      const sums = edges.map((time) => flow.before(time));
      return Float64Array.from({ length: bins }, (_, bin) => (edges[bin + 1] > edges[bin] ? (sums[bin + 1] - sums[bin]) / (edges[bin + 1] - edges[bin]) * 1e6 : 0));
    };
    const use = { out: this.flows.out.map(rates), in: this.flows.in.map(rates), edges };
    use.full = this.run.link_bytes_per_s ?? Math.max(1, ...[...use.out, ...use.in].map((table) => table.reduce((a, b) => Math.max(a, b), 0)));
    return use;
  }

  textOf(rate) { return this.run.link_bytes_per_s === null ? `${bytes(rate)}/s` : `${Math.round(rate / this.use.full * 100)} %`; }

  at(time, axis) {
    const bin = Math.max(0, Math.min(this.use.out[0].length - 1, Math.floor((axis.x(time) - axis.left) / BIN_PX)));
    return this.names.links.map((name, link) => ({ name, out: this.textOf(this.use.out[link][bin]), in: this.textOf(this.use.in[link][bin]) }));
  }

  moving(surface, frame) {
    const axis = axisOf(frame), { theme } = frame;
    drawNow(surface, frame, axis);
    if (!this.use || this.names.links.length === 0) return;
    const height = this.rowHeight(theme), size = 10.5 * theme.scale;
    this.at(frame.time, axis).forEach((link, i) => {
      const top = axisHeight(theme) + i * height;
      surface.text(0, top + 23 * theme.scale, `out ${link.out}`, { size, fill: theme.soft });
      surface.text(0, top + 34 * theme.scale, `in ${link.in}`, { size, fill: theme.soft });
    });
  }

  tip(x, y, frame) {
    const hit = timeHit(x, frame);
    const link = hit && this.use && this.at(hit.time, axisOf(frame))[Math.floor((y - axisHeight(frame.theme)) / this.rowHeight(frame.theme))];
    return link ? `${link.name} at ${ms(hit.time)}: out ${link.out}, in ${link.in}` : "";
  }

  hit(x, y, frame) { return timeHit(x, frame); }

  label(frame) {
    if (!this.use || this.names.links.length === 0) return this.title;
    return `${this.title}. ${this.at(frame.time, axisOf(frame)).map((link) => `${link.name}: out ${link.out}, in ${link.in}`).join("; ")}.`;
  }
}

/** The links of a run: one for each host, or for each node where all nodes share one host. */
function linkNames(run) {
  const hosts = [...new Set(run.nodes.map((node) => node.host))];
  const byHost = run.emulated && hosts.length > 1;
  const links = byHost ? hosts : run.nodes.map((node) => node.name);
  const of = run.nodes.map((node) => (byHost ? hosts.indexOf(node.host) : node.index));
  const names = byHost ? hosts.map((host) => `${host}`) : links;
  return { links: names, of };
}

/** What the heights mean. */
function hintOf(run) {
  if (run.link_bytes_per_s === null) return "The links have no set rate, so the busiest moment of this page is the full height.";
  if (!run.emulated) return "The dashed lines are the rate that was declared or measured. Between its begin and its arrival a chunk's bytes are drawn evenly.";
  return "The dashed lines are the link's rate. When a chunk begins and arrives is measured. How fast it moves in between is derived: never faster than the rate.";
}

/** {out, in}: the use of each link in both directions. An emulated link carries its rate; other links may be faster than what is known of them. */
function flowsOf(run, names) {
  const rate = run.emulated && run.link_bytes_per_s > 0 ? run.link_bytes_per_s / 1e6 : Infinity;
  const chunks = { out: names.links.map(() => []), in: names.links.map(() => []) };
  const { count, from, to, bytes: size, crosses, arrived } = run.transfers;
  for (let row = 0; row < count; ++row) {
    const [source, target] = [names.of[from[row]], to[row] < 0 ? -1 : names.of[to[row]]];
    // What was on a link before the page begins has lost its true begin.
    const lost = crosses[row] <= run.begin;
    if (source === target || lost && rate === Infinity) continue;
    const chunk = [lost ? arrived[row] - size[row] / rate : crosses[row], arrived[row], size[row]];
    chunks.out[source].push(chunk);
    if (target >= 0) chunks.in[target].push(chunk);
  }
  const flows = (lists) => lists.map((list) => new LinkUse(list, rate));
  return { out: flows(chunks.out), in: flows(chunks.in) };
}
