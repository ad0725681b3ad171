// The panel about the chosen chunk: where it comes from, where it goes to, when, and with whose gradients.
import { el } from "./dom.js";
import { bytes, integer, ms } from "./format.js";

const MEANING = { "reduce-scatter": "The receiver adds its own gradient to it.", "all-gather": "It brings the finished sum.", reduce: "The receiver adds its own gradient to it.",
                  broadcast: "It brings the finished sum.", exchange: "Both sides add what they get.", push: "It brings a worker's gradient to the server.", pull: "It brings new parameters to a worker.",
                  gather: "It brings a finished part.", slice: "A worker sums this part in shared memory.", "all-reduce": "The library sums it and hides how." };

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
    // The panel stands in the column of the chunk's run, below its topology.
    document.querySelector(`#run-${run.index} .chunk-holder`)?.append(this.node);
    const { bucket, offset, elements, bytes: size, step } = run.transfers;
    const close = el("button", { type: "button", click: () => this.selection.clear() }, "Close");
    const last = Math.max(0, offset[row]) + elements[row] - 1;
    this.node.replaceChildren(
      el("div", { class: "view-head" }, el("h3", {}, `A chunk of ${run.title}`), close),
      el("p", {}, `Step ${step[row]}, bucket ${bucket[row]}, elements ${integer(Math.max(0, offset[row]))} to ${integer(last)}: ${bytes(size[row])}. ${MEANING[run.phase(row)] ?? ""} Its whole way, the chosen hop in bold:`),
      el("ol", {}, this.selection.route.slice(0, 64).map((hop) => this.hop(run, hop, hop === row))));
  }

  hop(run, row, chosen) {
    const { from, to, begin, asked, arrived, version, staleness } = run.transfers;
    const go = el("button", { type: "button", class: "quiet", click: () => this.player.seek(this.player.alignment.positionOf(run, (begin[row] + arrived[row]) / 2)) }, ms(begin[row]));
    const waited = asked[row] >= 0 ? arrived[row] - asked[row] : 0;
    const known = [waited > 0 ? `${run.nameOf(to[row])} waited ${ms(waited)} for it` : null, version[row] >= 0 ? `version ${version[row]}` : null, staleness[row] > 0 ? `${staleness[row]} behind` : null].filter(Boolean);
    const words = ` ${run.nameOf(from[row])} → ${run.nameOf(to[row])}, ${run.phase(row)}, there at ${ms(arrived[row])}${known.length > 0 ? ` (${known.join(", ")})` : ""}`;
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
