// Puts the page together: runs, views, the clock, and who tells whom.
import { Amounts } from "./amounts.js";
import { Bound, facts, stepSentence } from "./bound.js";
import { ChunkPanel, chooseNext } from "./chunk.js";
import { Controls } from "./controls.js";
import { DataProblem, readPage } from "./data.js";
import { add, choice, el } from "./dom.js";
import { EventsTable } from "./events_table.js";
import { helpDialog, listenToKeys } from "./keyboard.js";
import { Lanes } from "./lanes.js";
import { Links } from "./links.js";
import { forgetTheme } from "./look.js";
import { Narrator } from "./narration.js";
import { Player } from "./player.js";
import { makeQuestions } from "./question_maker.js";
import { Questions } from "./questions.js";
import { Selection } from "./selection.js";
import { Topology } from "./topology.js";
import { stepTotals } from "./totals.js";
import { Versions } from "./versions.js";
import { View, watchViews } from "./view.js";
import { Waiting } from "./waiting.js";
import { unitOf } from "./alignment.js";

class App {
  constructor({ runs, made }) {
    Object.assign(this, { runs, made, look: 0, zoom: "step" });
    this.unit = unitOf(runs);
    this.waiting = new Map(runs.map((run) => [run, new Waiting(run)]));
    const waitingOf = (run) => this.waiting.get(run);
    this.player = new Player(runs, this.unit);
    this.selection = new Selection(waitingOf);
    this.questions = new Questions(this.player, makeQuestions(runs, waitingOf));
    this.narrator = new Narrator(runs, waitingOf, this.player, () => this.questions.asked !== null);
    this.help = helpDialog();
    this.controls = new Controls(this.player, this.questions, () => this.openHelp(), (zoom) => { this.zoom = zoom; this.redraw(); });
    this.chunkPanel = new ChunkPanel(this.selection, this.player);
    this.table = new EventsTable(runs, this.player);
    this.views = runs.flatMap((run) => this.viewsOf(run));
  }

  viewsOf(run) {
    const waiting = this.waiting.get(run);
    const pictures = [];
    if (!run.empty) pictures.push(new Topology(run, waiting, new Amounts(run), this.selection), new Lanes(run, waiting, this.selection));
    if (run.transfers.count > 0) pictures.push(new Links(run));
    if (!run.empty) pictures.push(new Versions(run));
    pictures.push(new Bound(run, this.runs));
    return pictures.map((picture) => new View(run, picture, (hit) => this.clicked(run, hit)));
  }

  /** A click on a chunk chooses it; on a time axis it moves the clock; elsewhere it lets the chosen chunk go. */
  clicked(run, hit) {
    if (hit?.time !== undefined) this.player.seek(this.player.alignment.positionOf(run, hit.time));
    else this.selection.choose(run, hit?.row ?? null);
  }

  /** The part of the record that lanes, links and versions show: whole, a step, or a tenth of one; it turns like a page. */
  page() {
    const span = { all: this.player.length, step: this.unit, part: this.unit / 10 }[this.zoom];
    const last = Math.max(0, Math.ceil(this.player.length / span - 1e-9) - 1);
    const from = Math.min(last, Math.floor(this.player.position / span)) * span;
    return { from, to: from + span };
  }

  state() {
    const { player } = this;
    return { alignment: player.alignment, alignmentName: player.alignmentName, position: player.position, playing: player.playing, calm: player.calm.matches, asking: this.questions.asked !== null,
             page: this.page(), look: this.look, timeOf: (run) => player.timeOf(run) };
  }

  draw() {
    const state = this.state();
    for (const view of this.views) view.draw(state);
    this.narrator.show();
  }

  /** Draws soon, once, however often it is called. */
  redraw() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => { this.due = null; this.draw(); });
  }

  /** Opens the lines with the measured steps once they give no answer away. */
  showFigures() {
    if (this.questions.on && this.questions.answered === 0) return;
    for (const line of document.querySelectorAll(".step-line")) line.open = true;
  }

  restyle() { forgetTheme(); ++this.look; this.redraw(); }
  nextChunk(direction) { if (this.player.playing) this.player.pause(); chooseNext(this.selection, this.runs, (run) => this.player.timeOf(run), direction); }
  openHelp() { if (this.player.playing) this.player.pause(); this.help.showModal(); }
  escape() { if (this.questions.asked) this.questions.skip(); else this.selection.clear(); }

  start() {
    this.player.onChange((what) => (what === "frame" ? this.draw() : this.redraw()));
    this.selection.onChange(() => this.redraw());
    this.questions.onChange(() => { this.showFigures(); this.redraw(); });
    watchViews(this.views, () => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(document.getElementById("main"));
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.restyle());
    this.draw();
  }
}

/** The pictures of a run, with a place for the panel of a chosen chunk below the first. */
function viewNodes(app, run) {
  const [first, ...rest] = app.views.filter((view) => view.run === run).map((view) => view.node);
  return [first, el("div", { class: "chunk-holder" }), ...rest];
}

/** The measured step and its bound. It is closed at first where a question asks for it. */
function stepLine(app, run) {
  const words = stepSentence(run);
  return words && el("details", { class: "step-line", open: app.questions.made.length === 0 }, el("summary", {}, "How long a step takes, and its bound"), el("p", {}, words));
}

function runColumn(app, run) {
  const totals = stepTotals(run);
  const network = run.network || (run.emulated ? "" : "no emulated network");
  return el("article", { class: "run", id: `run-${run.index}`, "aria-labelledby": `run-${run.index}-title` },
    el("div", { class: "head" }, el("h2", { id: `run-${run.index}-title` }, run.title),
    el("p", { class: "lead" }, [run.family, run.model, `${run.workers.length} workers${run.servers.length > 0 ? `, ${run.servers.length} server${run.servers.length > 1 ? "s" : ""}${run.colocated ? " inside of workers" : ""}` : ""}`, network].filter(Boolean).join(" · ")),
    stepLine(app, run),
    run.status && run.status !== "ok" ? el("p", { class: "warning" }, `This run's status is: ${run.status}`) : null,
    run.notes.map((note) => el("p", { class: "warning" }, note))),
    app.narrator.nodeOf(run),
    viewNodes(app, run), facts(run, totals));
}

function settings(app) {
  const root = document.documentElement;
  const theme = choice("Colours", [["auto", "Auto"], ["light", "Light"], ["dark", "Dark"]], "auto", (value) => {
    if (value === "auto") delete root.dataset.theme; else root.dataset.theme = value;
    app.restyle();
  });
  const size = choice("Size", [["normal", "Screen"], ["large", "Projector"]], "normal", (value) => { root.dataset.size = value; app.restyle(); });
  document.getElementById("settings").append(size, theme);
}

function build(page) {
  const app = new App(page);
  const main = document.getElementById("main");
  main.replaceChildren();
  add(main, el("div", { class: `runs of-${page.runs.length}` }, page.runs.map((run) => runColumn(app, run))));
  // Without any record there is nothing to play.
  if (page.runs.some((run) => !run.empty)) {
    add(main, app.table.node, app.narrator.live, app.help);
    document.getElementById("player").append(app.controls.node);
    listenToKeys(app);
    app.table.rebuild();
  }
  document.getElementById("made").textContent = [page.made.command, page.made.version, page.made.commit].filter(Boolean).join(" · ");
  settings(app);
  app.start();
  // Tests and the console reach the parts of the page through this name.
  window.ringside = app;
}

function main() {
  try {
    build(readPage(document.getElementById("data").textContent));
  } catch (problem) {
    if (!(problem instanceof DataProblem)) console.error(problem);
    const words = problem instanceof DataProblem ? problem.message : "The page cannot show this record, because something in it is not as expected. The browser's console has the error.";
    document.getElementById("main").replaceChildren(el("p", { class: "problem", role: "alert" }, words));
  }
  performance.mark("ringside-ready");
}

main();
