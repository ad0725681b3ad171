// The bar with the clock: scrubber, steps, speed, and the switches.
import { choice, dropDown, el } from "./dom.js";
import { ms, speedText } from "./format.js";
import { SPEEDS } from "./player.js";

export class Controls {
  constructor(player, questions, openHelp, showTime) {
    Object.assign(this, { player, questions });
    const button = (words, label, act, extra = {}) => el("button", { type: "button", "aria-label": label, title: label, click: act, ...extra }, words);
    this.play = button("▶ Play", "Play (Space)", () => player.toggle(), { class: "main", id: "play" });
    this.range = el("input", { type: "range", id: "scrubber", min: 0, step: "any", "aria-label": "Position", input: () => this.scrub() });
    this.marks = el("div", { class: "marks", "aria-hidden": "true" });
    this.clock = el("output", { id: "clock", for: "scrubber" });
    this.speed = el("select", { id: "speed", change: () => player.setSpeed(SPEEDS[this.speed.selectedIndex]) }, SPEEDS.map((speed) => el("option", {}, speedText(speed))));
    this.more = button("Settings", "Speed, alignment and questions", () => this.more.setAttribute("aria-expanded", String(this.node.classList.toggle("open"))), { id: "more", "aria-expanded": "false" });
    this.questionsBox = el("input", { type: "checkbox", id: "questions-on", checked: true, change: () => questions.setOn(this.questionsBox.checked) });
    this.score = el("span", { id: "score", class: "note" });
    const steps = el("div", { class: "steps", role: "group", "aria-label": "Step" },
      button("|◀", "To the beginning (Home)", () => player.seek(0)), button("◀▪", "Back by a chunk (Shift+Left)", () => player.step("chunkTimes", -1)),
      button("◀", "Back by an event (Left)", () => player.step("eventTimes", -1)), this.play, button("▶", "Forward by an event (Right)", () => player.step("eventTimes", 1)),
      button("▪▶", "Forward by a chunk (Shift+Right)", () => player.step("chunkTimes", 1)), button("▶|", "To the end (End)", () => player.seek(player.length)));
    const together = player.runs.length > 1
      ? el("div", { class: "field" }, el("span", {}, "Compare at the same"), choice("Alignment", [["time", "time"], ["step", "part of a step"]], "time", (value) => player.align(value))) : null;
    this.node = el("div", { class: "player", role: "region", "aria-label": "Player" }, questions.node,
      el("div", { class: "scrub" }, this.marks, this.range), el("div", { class: "player-row" }, steps, this.clock, this.more,
        el("div", { class: "settings" }, el("label", {}, el("span", {}, "Speed"), this.speed), dropDown("Pictures show", [["all", "whole record"], ["step", "one step"], ["part", "1/10 step"]], "step", showTime), together,
          el("label", { class: "check" }, this.questionsBox, " Questions ", this.score), button("?", "Keys and help (?)", openHelp))));
    player.onChange(() => this.show());
    questions.onChange(() => { this.showMarks(); this.show(); });
    player.onChange((what) => { if (what === "align") this.showMarks(); });
    this.showMarks();
    this.show();
  }

  scrub() {
    if (this.player.playing) this.player.pause();
    this.player.seek(Number(this.range.value));
  }

  showMarks() {
    const waiting = this.questions.on ? this.questions.made.filter((question) => !question.done) : [];
    this.marks.replaceChildren(...waiting.map((question) => {
      const mark = el("span", {}, "?");
      mark.style.left = `${question.at / this.player.length * 100}%`;
      return mark;
    }));
    this.questionsBox.checked = this.questions.on;
    this.score.textContent = this.questions.answered > 0 ? `(${this.questions.score()})` : "";
  }

  show() {
    const { player } = this;
    const words = player.playing ? "❚❚ Pause" : "▶ Play";
    if (this.play.textContent !== words) this.play.textContent = words;
    if (Number(this.range.max) !== player.length) this.range.max = player.length;
    this.range.value = player.position;
    const time = player.alignmentName === "step"
      ? player.runs.map((run) => `${ms(player.timeOf(run))}`).join(" | ") : `${ms(player.position)} of ${ms(player.length)}`;
    if (this.clock.textContent !== time) this.clock.textContent = time;
    if (!player.playing) this.range.setAttribute("aria-valuetext", `${time}. ${player.runs.map((run) => `${run.title}: step ${run.stepAt(player.timeOf(run))?.step ?? "unknown"}`).join("; ")}`);
    this.speed.selectedIndex = SPEEDS.indexOf(player.speed);
  }
}
