// Each link's use: bytes out (upwards) and in (downwards) in every two pixels of the page, as a share of the link.
import { axisHeight, axisOf, drawAxis, drawNow, pageKey, timeHit } from "./axis.js";
import { bytes, ms } from "./format.js";
import { fit } from "./surface.js";

const BIN_PX = 2;
const MOST_SHOWN = 1.1;

export class Links {
  constructor(run) {
    this.run = run;
    this.name = "links";
    this.names = linkNames(run);
    const known = run.link_bytes_per_s !== null;
    this.title = known ? "Use of the links" : "What each node sends and receives";
    this.hint = known ? "Up: bytes out. Down: bytes in. The dashed lines are all that the link can carry." : "Up: bytes out. Down: bytes in. The links have no set rate, so the busiest moment of this page is the full height.";
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
      if (bin > 0 && shares[bin - 1] === share) { points.at(-1)[0] = Math.min(x + BIN_PX, axis.right); return; }
      points.push([x, y], [Math.min(x + BIN_PX, axis.right), y]);
    });
    points.push([points.at(-1)[0], middle]);
    surface.path(points, { fill, close: true });
  }

  /** Bytes per second of each link in each bin; `full` is the rate of the whole height. */
  useOf(axis) {
    const bins = Math.max(1, Math.ceil(axis.width / BIN_PX));
    const empty = () => this.names.links.map(() => new Float64Array(bins));
    const use = { out: empty(), in: empty(), seconds: (axis.end - axis.begin) / 1e6 / axis.width * BIN_PX };
    const { from, to, bytes: size, begin, crosses, arrived } = this.run.transfers;
    const binOf = (time) => (axis.x(time) - axis.left) / BIN_PX;
    this.run.moving.overlapping(axis.begin, axis.end, (row) => {
      const [source, target] = [this.names.of[from[row]], to[row] < 0 ? -1 : this.names.of[to[row]]];
      // What was on its way before the page begins has lost its true begin, so its rate is not known.
      if (source === target || begin[row] <= this.run.begin) return;
      for (const table of target < 0 ? [use.out[source]] : [use.out[source], use.in[target]]) {
        spread(table, binOf(crosses[row]), binOf(arrived[row]), size[row]);
      }
    });
    for (const table of [...use.out, ...use.in]) for (let i = 0; i < bins; ++i) table[i] /= use.seconds;
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

/** Adds `amount` evenly to the bins from `begin` to `end`; parts outside of the bins are left out. */
function spread(bins, begin, end, amount) {
  const long = Math.max(end - begin, 1e-9);
  if (long <= 1e-6) { const bin = Math.floor(begin); if (bin >= 0 && bin < bins.length) bins[bin] += amount; return; }
  for (let bin = Math.max(0, Math.floor(begin)); bin < Math.min(bins.length, Math.ceil(end)); ++bin) {
    bins[bin] += amount * Math.max(0, Math.min(end, bin + 1) - Math.max(begin, bin)) / long;
  }
}
