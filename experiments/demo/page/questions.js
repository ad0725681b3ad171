// Predict, then see: the panel that stops the clock, takes a prediction and answers it.
import { el } from "./dom.js";

const LEAST_APART_US = 1;

export class Questions {
  constructor(player, made) {
    Object.assign(this, { player, made, on: true, asked: null, right: 0, answered: 0, listeners: [] });
    this.node = el("section", { class: "question", role: "dialog", "aria-labelledby": "question-text", hidden: true });
    this.place();
    player.stops = (from, to) => this.stopBetween(from, to);
    player.onChange((what) => { if (what === "align") this.place(); if (what === "stop") this.ask(); });
  }

  onChange(listener) { this.listeners.push(listener); }
  tell() { for (const listener of this.listeners) listener(); }
  score() { return `${this.right} of ${this.answered} right`; }

  /** Gives each question its position: no two have the same, and all are after the first position and up to the last one. */
  place() {
    const { player, made } = this;
    for (const question of made) question.at = player.alignment.positionOf(question.run, question.time);
    made.sort((a, b) => a.at - b.at);
    let least = LEAST_APART_US;
    for (const question of made) { question.at = Math.max(question.at, least); least = question.at + LEAST_APART_US; }
    let most = player.length;
    for (const question of made.slice().reverse()) { question.at = Math.min(question.at, most); most = question.at - LEAST_APART_US; }
  }

  stopBetween(from, to) {
    if (!this.on) return null;
    const next = this.made.find((question) => !question.done && question.at > from && question.at <= to);
    return next ? next.at : null;
  }

  setOn(on) {
    this.on = on;
    if (!on) this.close(false);
    this.tell();
  }

  ask() {
    const question = this.made.find((one) => !one.done && one.at === this.player.position);
    if (!question) return;
    this.asked = question;
    this.before = document.activeElement;
    this.node.replaceChildren(...this.form(question));
    this.node.hidden = false;
    this.showRun(question.run);
    this.node.querySelector("input").focus({ preventScroll: true });
    this.tell();
  }

  /** Scrolls so that the question does not cover the nodes that it asks about. */
  showRun(run) {
    const picture = document.querySelector(`#run-${run.index} .topology`);
    if (!picture || picture.getBoundingClientRect().bottom < this.node.getBoundingClientRect().top) return;
    document.querySelector(`#run-${run.index} .narration`).scrollIntoView({ block: "start", behavior: "instant" });
  }

  form(question) {
    const inputs = question.options.map(({ value, label }) => el("label", {}, el("input", { type: "radio", name: "prediction", value }), label));
    const answer = el("button", { type: "button", class: "main", disabled: true, click: () => this.answer() }, "Answer");
    const list = el("fieldset", { change: () => { answer.disabled = false; }, keydown: (event) => { if (event.key === "Enter" && !answer.disabled) { event.preventDefault(); this.answer(); } } },
      el("legend", { id: "question-text" }, question.text), el("div", { class: "options" }, inputs));
    return [el("p", { class: "kicker" }, "What do you expect?"), list,
            el("div", { class: "row" }, answer, el("button", { type: "button", click: () => this.skip() }, "Skip (Esc)"))];
  }

  answer() {
    const question = this.asked;
    const chosen = this.node.querySelector("input:checked").value;
    const right = chosen === question.answer;
    question.done = true;
    ++this.answered;
    if (right) ++this.right;
    const label = question.options.find((one) => one.value === question.answer).label;
    const go = el("button", { type: "button", class: "main", click: () => this.close(true) }, "Play on");
    this.node.replaceChildren(
      el("p", { class: "kicker" }, question.text),
      el("div", { role: "status" }, el("p", { class: `verdict ${right ? "good" : "bad"}` }, right ? `✓ Right: ${label}` : `✗ The run says: ${label}`),
        el("p", {}, question.explain.join(" "))),
      el("div", { class: "row" }, go, el("button", { type: "button", click: () => this.close(false) }, "Look around"), el("span", { class: "note" }, this.score())));
    go.focus({ preventScroll: true });
    this.tell();
  }

  skip() {
    if (this.asked) this.asked.done = true;
    this.close(false);
  }

  close(play) {
    if (!this.asked) return;
    this.asked = null;
    this.node.hidden = true;
    if (this.before?.isConnected) this.before.focus({ preventScroll: true });
    this.tell();
    if (play) this.player.play();
  }
}
