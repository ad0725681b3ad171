// The chosen chunk, shared by all views: one part of one bucket in one step, on its whole way.
import { chunkKey } from "./waiting.js";

export class Selection {
  constructor(waitingOf) {
    this.waitingOf = waitingOf;
    this.listeners = [];
    this.clear();
  }

  onChange(listener) { this.listeners.push(listener); }
  tell() { for (const listener of this.listeners) listener(); }

  choose(run, row) {
    if (row === null) return this.clear();
    this.run = run;
    this.row = row;
    this.route = wayOf(run, row, this.waitingOf(run).chunks.get(chunkKey(run, row)) ?? [row]);
    this.members = new Set(this.route);
    this.tell();
  }

  clear() {
    Object.assign(this, { run: null, row: null, route: [], members: new Set() });
    this.tell();
  }

  isChunk(run, row) { return this.run === run && this.members.has(row); }
  routeOf(run) { return this.run === run ? this.route : []; }
}

/** With servers, a chunk's way is one push and the answers that follow from it; in a ring, all hops. */
function wayOf(run, row, rows) {
  const { from, to } = run.transfers;
  const phase = run.phase(row);
  if (phase === "push") return rows.filter((other) => other === row || run.phase(other) === "pull" && from[other] === to[row]);
  if (phase === "pull") return rows.filter((other) => other === row || run.phase(other) === "push" && to[other] === from[row]);
  return rows;
}
