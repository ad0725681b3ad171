// All recorded events as a table, a page at a time: the alternative to the pictures.
import { choice, dropDown, el, saveText } from "./dom.js";
import { after } from "./intervals.js";
import { bytes, integer, ms } from "./format.js";

const ROWS = 25;
const COLUMNS = ["time", "until", "run", "what", "who", "step", "bucket", "details"];

/** The tables of a run by the name of their kind. */
const KINDS = { span: "spans", chunk: "transfers", update: "updates" };

export class EventsTable {
  constructor(runs, player) {
    Object.assign(this, { runs, player, first: 0, run: "all", kind: "all", follows: false });
    this.body = el("tbody");
    this.count = el("p", { class: "note", id: "events-count", role: "status" });
    const table = el("table", { id: "events" }, el("caption", { class: "unseen" }, "Recorded events in the order of their begins"),
      el("thead", {}, el("tr", {}, COLUMNS.map((name) => el("th", { scope: "col" }, name)))), this.body);
    this.node = el("section", { id: "table", "aria-labelledby": "table-title" }, el("h2", { id: "table-title" }, "All events as a table"),
      el("p", { class: "note" }, "The table says the same as the pictures. A time is a button that moves the clock there."), this.controls(), this.count,
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Events" }, table));
  }

  controls() {
    const button = (words, act) => el("button", { type: "button", click: act }, words);
    const runs = [["all", "both runs"], ...this.runs.map((run) => [String(run.index), run.title])];
    return el("div", { class: "controls" },
      this.runs.length > 1 ? dropDown("Run", runs, "all", (value) => { this.run = value; this.rebuild(); }) : null,
      dropDown("Events", [["all", "all events"], ["chunk", "chunks"], ["span", "spans"], ["update", "updates"]], "all", (value) => { this.kind = value; this.rebuild(); }),
      choice("Pages", [["first", "First"], ["back", "Back"], ["now", "At the clock"], ["next", "Next"], ["last", "Last"]], "", (value) => this.turn(value)),
      button("Save as CSV", () => this.save()));
  }

  /** Sorts all events by their position. Needed only once the table is looked at. */
  rebuild() {
    const times = [], rows = [];
    for (const run of this.runs) {
      if (this.run !== "all" && this.run !== String(run.index)) continue;
      for (const [kind, name] of Object.entries(KINDS)) {
        if (this.kind !== "all" && this.kind !== kind) continue;
        for (let row = 0; row < run[name].count; ++row) { times.push(run[name].begin[row]); rows.push([run, kind, row]); }
      }
    }
    const order = Uint32Array.from(times, (_, i) => i).sort((a, b) => times[a] - times[b] || a - b);
    this.rows = Array.from(order, (i) => rows[i]);
    this.times = Float64Array.from(order, (i) => times[i]);
    this.first = Math.min(this.first, this.lastFirst());
    this.show();
  }

  lastFirst() { return Math.max(0, Math.ceil(this.rows.length / ROWS) - 1) * ROWS; }

  turn(where) {
    if (!this.rows) this.rebuild();
    const to = { first: 0, back: this.first - ROWS, next: this.first + ROWS, last: this.lastFirst(), now: this.placeOfNow() }[where];
    this.first = Math.max(0, Math.min(this.lastFirst(), to));
    this.show();
    for (const button of this.node.querySelectorAll(".switch button")) button.setAttribute("aria-pressed", "false");
  }

  placeOfNow() {
    const time = this.player.timeOf(this.run === "all" ? this.runs[0] : this.runs[Number(this.run)]);
    return Math.floor(Math.max(0, after(this.times, time) - 1) / ROWS) * ROWS;
  }

  show() {
    const shown = this.rows.slice(this.first, this.first + ROWS);
    this.count.textContent = this.rows.length === 0 ? "There are no events." : `${integer(this.first + 1)} to ${integer(this.first + shown.length)} of ${integer(this.rows.length)} events`;
    this.body.replaceChildren(...shown.map((row) => this.line(...row)));
  }

  line(run, kind, row) {
    const [begin, ...cells] = cellsOf(run, kind, row);
    const go = el("button", { type: "button", class: "quiet", "aria-label": `Move the clock to ${ms(begin)}`, click: () => this.player.seek(this.player.alignment.positionOf(run, begin)) }, ms(begin));
    return el("tr", {}, el("td", {}, go), cells.map((cell, i) => el("td", { class: i === 0 ? null : "text" }, cell)));
  }

  save() {
    if (!this.rows) this.rebuild();
    // A spreadsheet would take a name that begins with one of these signs for a formula.
    const plain = (cell) => String(cell).replace(/^(?=[=+\-@\t\r])/, "'");
    const quoted = (cell) => `"${plain(cell).replaceAll('"', '""')}"`;
    const lines = this.rows.map((row) => cellsOf(...row).map(quoted).join(","));
    saveText("ringside-events.csv", [COLUMNS.join(","), ...lines, ""].join("\n"), "text/csv");
  }
}

function cellsOf(run, kind, row) {
  const table = run[KINDS[kind]];
  const dash = (value) => (value < 0 ? "–" : String(value));
  const common = [dash(table.step[row]), dash(table.bucket[row])];
  if (kind === "span") return [table.begin[row], ms(table.end[row]), run.title, run.kind(row), run.nameOf(table.node[row]), ...common, run.lanes[table.lane[row]] ?? ""];
  if (kind === "update") {
    const last = table.last[row] >= 0 ? `; the last gradient came from ${run.nameOf(table.last[row])}` : "";
    return [table.begin[row], ms(table.end[row]), run.title, "update", run.nameOf(table.node[row]), ...common, `version ${table.version[row]}${last}`];
  }
  const behind = table.staleness[row] >= 0 ? `, ${table.staleness[row]} behind` : "";
  const version = table.version[row] >= 0 ? `, version ${table.version[row]}${behind}` : "";
  return [table.begin[row], ms(table.arrived[row]), run.title, run.phase(row), `${run.nameOf(table.from[row])} → ${run.nameOf(table.to[row])}`, ...common, `${bytes(table.bytes[row])}${version}`];
}
