// Builds the page: its sections in order, the view that all charts share, and the theme.
import { Chart, drawAll, startDrawing } from "./chart.js";
import { add, choice, dropDown, el, section } from "./dom.js";
import { CURVE_METRICS, CURVE_TIMES, curves, staleness } from "./learning.js";
import { looksOf } from "./look.js";
import { COSTS, METRICS, againstBound, limitNotes, resources, scaling, timeParts } from "./pictures.js";
import { Study, View } from "./study.js";
import { cellTable, failures, growthTable, links, method, runTable, subject, verdict } from "./sections.js";

/** "auto" is logarithmic where the highest line would flatten another one. */
const SCALES = [["auto", "Auto"], ["linear", "Linear"], ["log", "Log"]];

const named = (table) => Object.entries(table).map(([value, what]) => [value, what.name]);

function field(label, node) {
  return el("div", { class: "field" }, el("span", {}, label), node);
}

/** The controls that apply to every chart; null when the study varies nothing. */
function chooser(study, view) {
  const node = el("div", { class: "controls choose", role: "group", "aria-label": "What the charts show" });
  if (view.choices.length < 2) return null;
  const fill = () => {
    node.replaceChildren(dropDown("Along x", view.choices.map((d) => [d, study.nameOf(d)]), view.x, (value) => { view.setX(value); fill(); node.querySelector("select").focus(); }));
    for (const dimension of view.others()) {
      const values = study.valuesOf(dimension).map((value) => [value, study.textOf(dimension, value)]);
      node.append(dropDown(study.nameOf(dimension), values, view.fixed[dimension], (value) => view.fix(dimension, value)));
    }
  };
  fill();
  return node;
}

/** A chart with its own switches, which set `state`. `draw(width, state)` builds it. */
function chart(view, id, label, state, controls, draw) {
  const drawn = new Chart(id, label, (width) => draw(width, state));
  view.onChange(() => drawn.draw());
  const bar = el("div", { class: "controls" });
  for (const [key, title, choices] of controls) {
    add(bar, field(title, choice(title, choices, state[key], (value) => { state[key] = value; drawn.draw(); })));
  }
  return { nodes: [controls.length > 0 ? bar : null, drawn.node], bar, drawn };
}

/** Adds the control that chooses the value of x, for charts that show one value only. */
function withPlace(study, view, made, state) {
  const holder = el("span");
  const fill = () => {
    const values = study.valuesOf(view.x, view.cells());
    state.at = values.at(-1);
    const choices = values.map((value) => [value, study.textOf(view.x, value)]);
    holder.hidden = choices.length < 2;
    holder.replaceChildren(dropDown(study.nameOf(view.x), choices, state.at, (value) => { state.at = value; made.drawn.draw(); }));
  };
  // The options must be up to date before the chart is drawn.
  view.listeners.unshift(fill);
  fill();
  made.bar.prepend(holder);
  return [made.bar, made.drawn.node];
}

function chartSections(study, view, looks) {
  const bars = study.cells.some((cell) => Object.keys(cell.intervals ?? {}).length > 0)
    ? "Points are medians over runs. Bars are 95 % bootstrap intervals over runs. Faint points are single runs."
    : "Points are medians over runs. A configuration with fewer than five runs has no interval.";
  const transports = study.mixesTransports
    ? el("p", { class: "note" }, `Lines over different transports (${study.transports.join(", ")}) compare transports as well as strategies.`) : null;
  const limited = study.limited > 0
    ? el("p", { class: "note" }, "A faint cross is a run that the machine limited. A circle with a cross is a configuration whose runs the machine all limited: it takes part in no verdict and no fit.") : null;
  const emulated = study.emulated
    ? el("p", { class: "note" }, "Compute was emulated: workers waited for its time. Every byte was really sent.") : null;
  const scaleState = { metric: "step_ms", scale: "auto" };
  const scaleNote = el("p", { class: "note" });
  const noteScale = () => { scaleNote.textContent = [bars, ...limitNotes(study, scaleState.metric)].join(" "); };
  noteScale();
  const scale = chart(view, "chart-scaling", "How strategies scale", scaleState,
    [["metric", "Show", named(METRICS)], ["scale", "Vertical axis", SCALES]],
    (width, state) => { noteScale(); return scaling(study, view, looks, state.metric, state.scale, width); });
  const time = chart(view, "chart-time", "Parts of a step", {}, [], (width) => timeParts(study, view, width));
  const bound = chart(view, "chart-bound", "Measured against bound", {}, [], (width) => againstBound(study, view, looks, width));
  const cost = chart(view, "chart-cost", "Cost of a sample", { cost: "core" }, [["cost", "Show", named(COSTS)]],
    (width, state) => resources(study, view, width, state.cost));
  const curveState = { metric: "accuracy", time: "train_seconds" };
  const learn = chart(view, "chart-curves", "Accuracy and loss", curveState,
    [["metric", "Show", named(CURVE_METRICS)], ["time", "Against", named(CURVE_TIMES)]],
    (width, state) => curves(study, view, looks, state.at, state.time, state.metric, width));
  const staleState = {};
  const stale = chart(view, "chart-staleness", "Staleness of updates", staleState, [], (_, state) => staleness(study, view, looks, state.at));
  const has = (test) => study.cells.some(test);
  const target = study.data.target;
  return [
    section("scaling", "How it scales", scaleNote, transports, limited, emulated, scale.nodes, growthTable(study)),
    section("time", "Where the time goes", el("p", { class: "note" }, "Each part of a step is its own median over runs. Exposed communication is the time that a step waits for its parameters."), emulated?.cloneNode(true), time.nodes),
    section("bound", "Measured against bound", el("p", { class: "note" }, "1 is the bound of theory. A ratio up to 1.15 (dotted) needs no explanation. A grey mark is the achievable step. A step more than 5 % longer needs a cause that the runs recorded."), study.cells.some((cell) => cell.takes_part === false) ? el("p", { class: "note" }, "A circle with a cross is a configuration whose runs the machine all limited.") : null, bound.nodes),
    has((cell) => (cell.results ?? []).some((run) => run.curve?.step?.length)) ? section("learning", "Accuracy and loss",
      target?.accuracy ? el("p", { class: "note" }, `The dotted line is the target accuracy of ${(target.accuracy * 100).toFixed(1)} % (${target.origin}).`) : null,
      withPlace(study, view, learn, curveState)) : null,
    has((cell) => Object.keys(cell.staleness ?? {}).length > 0) ? section("staleness", "How stale updates were",
      el("p", { class: "note" }, "An update's staleness is the number of versions by which the server was ahead when the update came, as the server counted."),
      withPlace(study, view, stale, staleState)) : null,
    section("resources", "What it costs", el("p", { class: "note" }, "Costs of workers and servers: processor time over the whole lives of the processes, and bytes through their NICs in both directions."), cost.nodes),
  ];
}

function themeSwitch() {
  const node = document.getElementById("theme");
  const set = (value) => {
    if (value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
    drawAll();
  };
  const group = choice("Colours", [["auto", "Auto"], ["light", "Light"], ["dark", "Dark"]], "auto", set);
  node.replaceChildren(...group.children);
  // The buttons are now children of `node`, so the press is marked here.
  node.addEventListener("click", (event) => {
    for (const button of node.children) button.setAttribute("aria-pressed", String(button === event.target));
  });
}

function navigation(sections) {
  const nav = document.getElementById("nav");
  for (const one of sections) nav.append(el("a", { href: `#${one.id}` }, one.dataset.short));
}

const SHORT = { verdict: "Verdict", cells: "Numbers", scaling: "Scaling", time: "Time", bound: "Bound", learning: "Learning", staleness: "Staleness",
                resources: "Cost", links: "Links", runs: "Runs", failures: "Problems", method: "Method" };

function main() {
  const study = new Study(JSON.parse(document.getElementById("study").textContent));
  const view = new View(study);
  const looks = looksOf(study);
  const page = document.getElementById("main");
  document.getElementById("subject").textContent = subject(study);
  const charts = study.cells.length > 0 ? el("div", {}, chooser(study, view), chartSections(study, view, looks)) : null;
  page.replaceChildren();
  add(page, verdict(study), charts, links(study), cellTable(study), failures(study), runTable(study), method(study));
  const sections = [...page.querySelectorAll("section")];
  for (const one of sections) one.dataset.short = SHORT[one.id];
  navigation(sections);
  themeSwitch();
  performance.mark("ringside-tables");
  document.addEventListener("DOMContentLoaded", () => {
    startDrawing().then(() => performance.mark("ringside-interactive"));
  });
}

main();
