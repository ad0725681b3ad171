// The clock of the page: a position in microseconds, played, stepped and moved. It asks for frames only while it plays.
import { after } from "./intervals.js";
import { alignmentOf } from "./alignment.js";

export const SPEEDS = [1 / 1000, 1 / 500, 1 / 200, 1 / 100, 1 / 50, 1 / 20, 1 / 10, 1 / 2, 1];
const CALM_PAUSE_MS = 700;
const ROUNDING_US = 1e-6;

export class Player {
  /** `stops(from, to)` returns the first position in (from, to] where playing must stop, or null. */
  constructor(runs, unit) {
    this.runs = runs;
    this.position = 0;
    this.playing = false;
    this.listeners = [];
    this.stops = () => null;
    this.calm = window.matchMedia("(prefers-reduced-motion: reduce)");
    // A step takes about ten seconds.
    this.speed = SPEEDS.reduce((best, speed) => (Math.abs(Math.log(unit / speed / 1e7)) < Math.abs(Math.log(unit / best / 1e7)) ? speed : best));
    this.align("time");
  }

  onChange(listener) { this.listeners.push(listener); }
  tell(what) { for (const listener of this.listeners) listener(what); }
  timeOf(run) { return Math.min(this.alignment.timeOf(run, this.position), run.end); }
  get length() { return this.alignment.length; }

  /** Keeps the first run's time when the alignment changes. */
  align(name) {
    const time = this.alignment ? this.timeOf(this.runs[0]) : null;
    this.alignmentName = name;
    this.alignment = alignmentOf(name, this.runs);
    this.position = time === null ? 0 : this.clamp(this.alignment.positionOf(this.runs[0], time));
    this.tell("align");
  }

  clamp(position) { return Math.max(0, Math.min(this.length, position)); }

  seek(position) {
    this.position = this.clamp(position);
    this.tell("seek");
  }

  setSpeed(speed) { this.speed = speed; this.tell("speed"); }
  changeSpeed(by) { this.setSpeed(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(this.speed) + by))]); }

  toggle() { if (this.playing) this.pause(); else this.play(); }

  play() {
    if (this.position >= this.length) this.position = 0;
    this.playing = true;
    this.tell("play");
    this.last = null;
    if (this.calm.matches) this.timer = setTimeout(() => this.calmStep(), CALM_PAUSE_MS);
    else this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  pause() {
    this.playing = false;
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.tell("pause");
  }

  /** Goes forward to `to`, or to the first stop before it. Returns false where playing ends. */
  advance(to) {
    const goal = this.clamp(to);
    const stop = this.stops(this.position, goal);
    this.position = stop ?? goal;
    if (stop === null && this.position < this.length) { this.tell("frame"); return true; }
    if (this.playing) this.pause(); else this.tell("seek");
    if (stop !== null) this.tell("stop");
    return false;
  }

  tick(now) {
    // After a long absence (another tab) the clock goes on where it was.
    const passed = this.last === null ? 0 : Math.min(now - this.last, 100);
    this.last = now;
    if (this.advance(this.position + passed * 1000 * this.speed) && this.playing) this.frame = requestAnimationFrame((at) => this.tick(at));
  }

  /** Without motion: from event to event, at least as far as the speed says. */
  calmStep() {
    const least = this.position + CALM_PAUSE_MS * 1000 * this.speed;
    const next = this.neighbour("eventTimes", 1, Math.max(this.position, least - 1)) ?? this.length;
    if (this.advance(next) && this.playing) this.timer = setTimeout(() => this.calmStep(), CALM_PAUSE_MS);
  }

  /** The nearest position before (-1) or after (1) `from` where some run has one of its `times`. */
  neighbour(times, direction, from = this.position) {
    let best = null;
    for (const run of this.runs) {
      const time = this.alignment.timeOf(run, from);
      // A position that was made from a time is not exactly that time again.
      const index = direction > 0 ? after(run[times], time + ROUNDING_US) : after(run[times], time - ROUNDING_US) - 1;
      const at = run[times][direction > 0 ? index : run[times][index] >= time - ROUNDING_US ? index - 1 : index];
      if (at === undefined) continue;
      const position = this.alignment.positionOf(run, at);
      if (best === null || direction * (position - best) < 0) best = position;
    }
    return best;
  }

  /** Steps to the next or the last event or chunk; stops at a question like playing does. */
  step(times, direction) {
    if (this.playing) this.pause();
    const to = this.neighbour(times, direction);
    if (direction > 0) { this.advance(to ?? this.length); this.tell("seek"); } else this.seek(to ?? 0);
  }
}
