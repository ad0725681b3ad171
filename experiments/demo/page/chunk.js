// The panel about the chosen chunk: where it comes from, where it goes to, when, and with whose gradients.
import { el } from "./dom.js";
import { bytes, integer, ms } from "./format.js";

const MEANING = { "reduce-scatter": "is added to the receiver's part", "all-gather": "brings the finished sum", reduce: "is added to the receiver's part", broadcast: "brings the finished sum",
                  exchange: "both sides add", push: "brings a gradient to its server", pull: "brings new parameters", gather: "brings finished parts", slice: "is summed in shared memory",
                  "all-reduce": "the library sums it and hides how" };

export class ChunkPanel {
  constructor(selection, player) {
    Object.assign(this, { selection, player });
    this.node = el("section", { class: "chunk-panel", "aria-label": "The chosen chunk", hidden: true, tabindex: "-1" });
    selection.onChange(() => this.show());
  }

  show() {
    const { run, row } = this.selection;
    this.node.hidden = row === null;
    if (row === null) return;
    const { bucket, offset, elements, bytes: size, step } = run.transfers;
    const close = el("button", { type: "button", click: () => this.selection.clear() }, "Close");
    const last = Math.max(0, offset[row]) + elements[row] - 1;
    this.node.replaceChildren(
      el("div", { class: "view-head" }, el("h3", {}, `A chunk of ${run.title}`), close),
      el("p", {}, `Step ${step[row]}, bucket ${bucket[row]}, elements ${integer(Math.max(0, offset[row]))} to ${integer(last)}: ${bytes(size[row])}. Its way, with the hop that you chose in bold:`),
      el("ol", {}, this.selection.route.slice(0, 64).map((hop) => this.hop(run, hop, hop === row))));
  }

  hop(run, row, chosen) {
    const { from, to, begin, arrived, version, staleness } = run.transfers;
    const go = el("button", { type: "button", class: "quiet", click: () => this.player.seek(this.player.alignment.positionOf(run, (begin[row] + arrived[row]) / 2)) }, ms(begin[row]));
    const known = [version[row] >= 0 ? `version ${version[row]}` : null, staleness[row] > 0 ? `${staleness[row]} behind` : null].filter(Boolean);
    const words = ` ${run.nameOf(from[row])} → ${run.nameOf(to[row])}, ${run.phase(row)}: ${MEANING[run.phase(row)] ?? ""}; there at ${ms(arrived[row])}${known.length > 0 ? ` (${known.join(", ")})` : ""}`;
    return el("li", { class: chosen ? "chosen" : null }, go, words);
  }
}

/** Chooses the next chunk that is on its way now, after the chosen one; for the keyboard. */
export function chooseNext(selection, runs, timeOf, direction) {
  const all = [];
  for (const run of runs) run.moving.at(timeOf(run), (row) => all.push([run, row]));
  if (all.length === 0) return selection.clear();
  const now = all.findIndex(([run, row]) => run === selection.run && row === selection.row);
  const [run, row] = all[(now + direction + all.length) % all.length] ?? all[0];
  selection.choose(run, row);
}
