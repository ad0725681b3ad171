// Shows the narration of each run, and tells it to screen readers: at once where the clock rests, seldom while it plays.
import { el } from "./dom.js";
import { narrate } from "./narration.js";

const SHOW_EVERY_MS = 120;
const SAY_EVERY_MS = 5000;
const REST_MS = 400;

export class Narrator {
  constructor(runs, waitingOf, player) {
    Object.assign(this, { runs, waitingOf, player, shown: 0, said: 0 });
    this.live = el("p", { class: "unseen", "aria-live": "polite", id: "live" });
    this.parts = new Map(runs.map((run) => {
      const now = el("p", { class: "now" }), waits = el("ul", { class: "waits" });
      return [run, { node: el("div", { class: "narration" }, now, waits), now, waits, words: "" }];
    }));
  }

  nodeOf(run) { return this.parts.get(run).node; }

  show() {
    const now = performance.now();
    if (this.player.playing && now - this.shown < SHOW_EVERY_MS) return;
    this.shown = now;
    const texts = this.runs.map((run) => this.showRun(run));
    this.say(texts.join(" "), now);
  }

  showRun(run) {
    const part = this.parts.get(run);
    const { now, waits } = narrate(run, this.waitingOf(run), this.player.timeOf(run));
    const words = [now, ...waits].join(" ");
    if (words !== part.words) {
      part.words = words;
      part.now.textContent = now;
      part.waits.replaceChildren(...waits.map((wait) => el("li", {}, wait)));
    }
    return `${run.title}: ${words}`;
  }

  say(words, now) {
    clearTimeout(this.timer);
    const write = () => { if (this.live.textContent !== words) this.live.textContent = words; };
    if (!this.player.playing) this.timer = setTimeout(write, REST_MS);
    else if (now - this.said > SAY_EVERY_MS) { this.said = now; write(); }
  }
}
