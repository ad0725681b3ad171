// Says in words what happens at a time, and who waits for whom and why. Screen readers hear it at once where the clock rests, and
// seldom while it plays.
import { el } from "./dom.js";
import { capital, listed, ms, plural } from "./format.js";

const MOST_REASONS = 3;
const SHOW_EVERY_MS = 120;
const SAY_EVERY_MS = 5000;
const REST_MS = 400;
const DOING = { forward: ["computes its forward pass", "compute their forward passes"], backward: ["computes its backward pass", "compute their backward passes"],
                data: ["waits for its data", "wait for their data"], evaluate: ["evaluates the model", "evaluate the model"],
                reduce: ["adds gradients", "add gradients"], apply: ["updates the parameters", "update the parameters"],
                await: ["waits", "wait"], codec: ["encodes or decodes", "encode or decode"] };
// Reasons that several workers can have, each with a sender of its own.
const ALIKE = { "on the link": "the next chunk is still on the link to each of them", unsent: "the next chunk for each of them has not been sent yet" };

function named(run, nodes) {
  const others = run.workers.filter((worker) => !nodes.includes(worker.index));
  if (nodes.length > 1 && nodes.every((node) => run.nodes[node].kind === "worker")) {
    if (others.length === 0) return `all ${nodes.length} workers`;
    if (others.length === 1 && nodes.length > 2) return `all workers except ${others[0].name}`;
  }
  return namesOf(nodes.map((node) => run.nameOf(node)));
}

/** "workers 0, 1 and 2" where the names differ by a number only; else the names. */
function namesOf(names) {
  const parts = names.map((name) => /^(worker|server) (\d+)$/.exec(name));
  const same = names.length > 1 && parts.every((part) => part && part[1] === parts[0][1]);
  return same ? `${parts[0][1]}s ${listed(parts.map((part) => part[2]), 9)}` : listed(names);
}

/** {now, waits: [sentences]} of a run at a time. */
export function narrate(run, waiting, time) {
  if (run.empty) return { now: "There is nothing to replay of this run.", waits: [] };
  const step = run.stepAt(time);
  const where = step ? `Step ${step.step}. ` : "";
  if (time >= run.end) return { now: `${where}The record of this run ends at ${ms(run.end)}.`, waits: [] };
  return { now: where + activity(run, waiting, time), waits: waits(run, waiting, time) };
}

function activity(run, waiting, time) {
  const groups = new Map();
  for (const node of run.nodes) {
    const kind = waiting.doing(node.index, time)?.kind;
    if (kind) groups.set(kind, [...(groups.get(kind) ?? []), node.index]);
  }
  const sentences = [...groups].sort((a, b) => (a[0] === "await") - (b[0] === "await"))
    .map(([kind, nodes]) => `${capital(named(run, nodes))} ${(DOING[kind] ?? [kind, kind])[nodes.length > 1 ? 1 : 0]}.`);
  return `${sentences.join(" ")}${sentences.length > 0 ? " " : ""}${chunksNow(run, time)}`.trim() || "Nothing is recorded at this moment.";
}

function chunksNow(run, time) {
  const counts = new Map();
  let total = 0;
  run.moving.at(time, (row) => { ++total; counts.set(run.phase(row), (counts.get(run.phase(row)) ?? 0) + 1); });
  if (total === 0) return "";
  const parts = [...counts].map(([phase, count]) => `${count} in ${phase}`);
  return `${plural(total, "chunk")} on the way: ${listed(parts)}.`;
}

/** One sentence for each reason, with all who wait for it. */
function waits(run, waiting, time) {
  const byReason = new Map();
  for (const node of run.workers) {
    const wait = waiting.waitOf(node.index, time);
    if (!wait) continue;
    // In a ring each waits for its own neighbour; one sentence says it for all.
    const key = wait.alike ? `${wait.alike} ${wait.bucket}` : reasonOf(run, wait);
    const group = byReason.get(key) ?? { nodes: [], wait };
    group.nodes.push(node.index);
    byReason.set(key, group);
  }
  const groups = [...byReason.values()];
  const shown = groups.slice(0, MOST_REASONS).map((group) => waitSentence(run, group));
  const rest = groups.slice(MOST_REASONS);
  return rest.length > 0 ? [...shown, restSentence(run, rest)] : shown;
}

/** All who wait for reasons that have no room, which may be like those that are told. */
function restSentence(run, groups) {
  const nodes = groups.flatMap((group) => group.nodes).sort((a, b) => a - b);
  const buckets = [...new Set(groups.map((group) => group.wait.bucket))];
  const what = buckets.length === 1 && buckets[0] >= 0 ? ` for bucket ${buckets[0]}` : "";
  return `${capital(named(run, nodes))} ${nodes.length === 1 ? "waits" : "wait"}${what}, too.`;
}

function waitSentence(run, { nodes, wait }) {
  const who = capital(named(run, nodes));
  if (nodes.length === 1) return `${who} waits for ${reasonOf(run, wait)}`;
  if (wait.alike) return `${who} wait for bucket ${wait.bucket}, because ${ALIKE[wait.alike]}.`;
  return `${who} wait for ${reasonOf(run, wait)}`;
}

function reasonOf(run, wait) {
  const what = wait.bucket < 0 ? "parameters" : `bucket ${wait.bucket}`;
  if (wait.late && wait.need === 1) return `${what} from ${run.nameOf(wait.server)}: the gradient for it is not there yet, because ${wait.why}.`;
  if (wait.late) {
    const has = `${what} from ${run.nameOf(wait.server)}: it has ${wait.have} of ${wait.need} gradients`;
    return wait.have === 0 ? `${has}, because ${wait.why}.` : `${has}. ${capital(missing(run, wait.late))} missing, because ${wait.why}.`;
  }
  if (wait.whom.length === 0) return `${what}: ${wait.why}.`;
  const server = run.nodes[wait.sender]?.kind === "server" ? ` from ${run.nameOf(wait.sender)}` : "";
  return `${what}${server}, because ${wait.why}.`;
}

const missing = (run, late) => (late.length === 1 ? `that of ${run.nameOf(late[0])} is` : `those of ${namesOf(late.map((node) => run.nameOf(node)))} are`);

/** Shows the narration of each run on the page. */
export class Narrator {
  /** `asking()` is true while a question is open: then nothing is said of who waits for whom. */
  constructor(runs, waitingOf, player, asking) {
    Object.assign(this, { runs, waitingOf, player, asking, shown: 0, said: 0 });
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
    const told = narrate(run, this.waitingOf(run), this.player.timeOf(run));
    const { now } = told, waits = this.asking() ? [] : told.waits;
    const words = [now, ...waits].join(" ");
    if (words !== part.words) {
      part.words = words;
      part.now.textContent = now;
      part.waits.replaceChildren(...waits.map((wait) => el("li", {}, wait)));
      keepRoom(part);
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

/** A box grows with its text and stays as high, so the pictures below it do not go up and down. With another width it begins anew. */
function keepRoom(part) {
  const { node } = part;
  const width = `${node.clientWidth} ${document.documentElement.dataset.size}`;
  if (width !== part.width) { part.width = width; node.style.minHeight = ""; }
  const height = Math.ceil(node.getBoundingClientRect().height);
  if (height > parseFloat(node.style.minHeight || 0)) node.style.minHeight = `${height}px`;
}
