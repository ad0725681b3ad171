// The best step time that theory allows, beside the measured one: bars on one scale for both runs.
import { bytesAStep } from "./totals.js";
import { bytes, compact, integer } from "./format.js";
import { el } from "./dom.js";

export class Bound {
  constructor(run, runs) {
    this.run = run;
    this.name = "bound";
    this.title = "The step against its bound";
    this.hint = run.bound_resource ? `What limits the bound: ${run.bound_resource}.` : "";
    const values = runs.flatMap((one) => [one.bound_ms, one.achievable_ms, one.step_ms, one.step_interval_ms?.[1]]).filter((value) => value !== null && value !== undefined);
    this.most = Math.max(1e-9, ...values);
    this.rows = [["bound", run.bound_ms], ["achievable", run.achievable_ms], ["measured", run.step_ms]].filter(([, value]) => value !== null);
  }

  heightOf(width, theme) { return Math.round((Math.max(1, this.rows.length) * 19 + 4) * theme.scale); }
  keyOf() { return ""; }

  still(surface, frame) {
    const { theme } = frame;
    const size = 11.5 * theme.scale, left = 78 * theme.scale, room = frame.width - left - 172 * theme.scale;
    if (this.rows.length === 0) return surface.text(0, size + 2, "This run has no measured step.", { size, fill: theme.soft });
    this.rows.forEach(([name, value], i) => {
      const y = i * 19 * theme.scale + 2, h = 13 * theme.scale;
      surface.text(0, y + size, name, { size, fill: theme.ink });
      const style = name === "measured" ? { fill: theme.accent } : name === "bound" ? { fill: theme.soft } : { fill: theme.line, stroke: theme.soft };
      surface.rect(left, y, Math.max(1, room * value / this.most), h, style);
      const ends = name === "measured" ? this.run.step_interval_ms : null;
      if (ends) this.drawInterval(surface, left, room, y + h / 2, ends, theme);
      const edge = Math.max(value, ends?.[1] ?? 0);
      surface.text(left + room * edge / this.most + 6, y + size, `${compact(value)} ms${this.shareText(name, value)}`, { size, fill: theme.ink, weight: name === "measured" ? 600 : 400 });
    });
  }

  drawInterval(surface, left, room, y, [low, high], theme) {
    const x = (value) => left + room * value / this.most;
    surface.path([[x(low), y], [x(high), y]], { stroke: theme.ink, width: 1.5 });
    for (const end of [low, high]) surface.path([[x(end), y - 4], [x(end), y + 4]], { stroke: theme.ink, width: 1.5 });
  }

  shareText(name, value) { return name === "measured" && this.run.bound_ms ? `, ${(value / this.run.bound_ms).toFixed(2)} × bound` : ""; }
  moving() {}
  label() { return `${this.title}. ${this.rows.map(([name, value]) => `${name} ${compact(value)} ms${this.shareText(name, value)}`).join("; ")}.`; }
}

/** The measured step and its bound in one sentence; empty without them. */
export function stepSentence(run) {
  if (run.step_ms === null) return "";
  const range = run.step_interval_ms ? ` (${compact(run.step_interval_ms[0])} to ${compact(run.step_interval_ms[1])})` : "";
  const bound = run.bound_ms === null ? "" : `; the bound is ${compact(run.bound_ms)} ms, ${Math.round(run.bound_ms / run.step_ms * 100)} % of it`;
  return `A step takes ${compact(run.step_ms)} ms${range}${bound}.`;
}

/** The figures of a run as a list of terms. */
export function facts(run, totals) {
  const sent = bytesAStep(totals, run.workers, "sent"), received = run.servers.length > 0 ? bytesAStep(totals, run.servers, "received") : null;
  const range = run.step_interval_ms ? ` (${compact(run.step_interval_ms[0])} to ${compact(run.step_interval_ms[1])})` : "";
  const rows = [
    ["step", run.step_ms === null ? null : `${compact(run.step_ms)} ms${range}`],
    ["bound", run.bound_ms === null ? null : `${compact(run.bound_ms)} ms${run.step_ms ? `, ${Math.round(run.bound_ms / run.step_ms * 100)} % of the measured step` : ""}`],
    ["a worker sends", sent === null ? null : `${bytes(sent)} a step`],
    ["a server receives", received === null ? null : `${bytes(received)} a step`],
    ["record", `${integer(run.transfers.count)} chunks, ${integer(run.spans.count)} spans, ${integer(run.updates.count)} updates`],
    ["time", run.dilation !== 1 ? `dilated ${compact(run.dilation)} times` : null],
  ];
  return el("dl", { class: "facts" }, rows.filter(([, value]) => value !== null).map(([name, value]) => el("div", { "data-fact": name }, el("dt", {}, name), el("dd", {}, value))));
}
