// What a node does at a time; whom a waiting worker waits for, and why. Everything comes from the recorded spans and chunks.
import { after, groupRows } from "./intervals.js";

const WORK = ["data", "forward", "backward", "evaluate", "await", "reduce", "apply", "codec"];

// Phases in which all workers meet, and no chunk goes from one to the other.
const SUMS = new Set(["slice", "all-reduce"]);

export class Waiting {
  constructor(run) {
    this.run = run;
    const { transfers } = run;
    this.work = new Set(WORK.map((name) => run.kinds[name]));
    this.chunks = groupByText(transfers.count, (row) => chunkKey(run, row));
    this.incoming = groupRows(transfers.count, (row) => (transfers.to[row] < 0 ? -1 : transfers.to[row] * 65536 + transfers.bucket[row]));
    for (const [key, rows] of this.incoming) {
      rows.sort((a, b) => transfers.arrived[a] - transfers.arrived[b]);
      this.incoming.set(key, { rows, times: Float64Array.from(rows, (row) => transfers.arrived[row]) });
    }
    this.submitted = submitsOf(run);
    this.sums = groupRows(transfers.count, (row) => (SUMS.has(run.phase(row)) ? transfers.bucket[row] : -1));
    this.together = updatesTogether(run);
  }

  /** The innermost span of a node's work: {kind, bucket, step, row}; null when nothing is recorded at `time`. */
  doing(node, time) {
    const { spans } = this.run;
    let found = null;
    this.run.spansOf.get(node)?.at(time, (row) => {
      if (!this.work.has(spans.kind[row]) || this.run.lanes[spans.lane[row]] === "communication") return;
      found = row;
    });
    return found === null ? null : { kind: this.run.kind(found), bucket: spans.bucket[found], step: spans.step[found], row: found };
  }

  /** The next chunk of a bucket that reaches a node after `time`; null without one. */
  nextArrival(node, bucket, time) {
    const found = this.incoming.get(node * 65536 + bucket);
    return found?.rows[after(found.times, time)] ?? null;
  }

  /**
   * {bucket, whom: [nodes], root, why}: whom `node` waits for at `time`; null when it does not wait. `root` is the node that
   * holds up the others: in a ring a neighbour may itself wait for its neighbour.
   */
  waitOf(node, time) {
    const doing = this.doing(node, time);
    if (doing?.kind !== "await") return null;
    const sums = this.sums.get(doing.bucket);
    if (sums) return { bucket: doing.bucket, ...this.whyNoSum(sums, time) };
    const row = this.nextArrival(node, doing.bucket, time);
    if (row === null) return { bucket: doing.bucket, whom: [], why: "its chunks are not in the record" };
    // What arrives after the wait has ended belongs to a later step.
    if (this.run.transfers.arrived[row] > this.run.spans.end[doing.row] + 1) return { bucket: doing.bucket, whom: [], why: "all its chunks are there, but the update is not done yet" };
    const sender = this.run.transfers.from[row];
    const reason = this.run.phase(row) === "pull" ? this.whyNoAnswer(sender, row, time) : this.whyNoChunk(sender, row, time);
    return { bucket: doing.bucket, sender, ...reason };
  }

  /** Follows a chunk that has not been sent back to the node that holds it up. */
  whyNoChunk(sender, row, time) {
    const { transfers } = this.run;
    const first = sender;
    for (let hops = 0; hops < this.run.nodes.length; ++hops) {
      if (transfers.begin[row] <= time) {
        const way = `a chunk is on the link from ${this.run.nameOf(transfers.from[row])} to ${this.run.nameOf(transfers.to[row])}`;
        return hops === 0 ? { whom: [first], root: first, alike: "on the link", why: `the next chunk is still on the link from ${this.run.nameOf(first)}` }
          : { whom: [first], root: transfers.from[row], why: way };
      }
      const busy = this.busy(sender, row, time);
      if (busy) return { whom: [first], root: sender, why: `${this.run.nameOf(sender)} ${busy}` };
      const next = this.nextArrival(sender, transfers.bucket[row], time);
      if (next === null || next === row) break;
      row = next;
      sender = transfers.from[row];
    }
    const alike = this.sends(sender, time) === null ? "unsent" : null;
    return { whom: [first], root: sender, alike, why: this.linkReason(sender, time) };
  }

  /** In shared memory and inside a library all workers meet: some have not joined, or the sum is under way. */
  whyNoSum(rows, time) {
    const { transfers } = this.run;
    const next = rows.find((row) => transfers.arrived[row] > time);
    const peers = rows.filter((row) => transfers.step[row] === transfers.step[next] && transfers.arrived[row] > time);
    const late = peers.filter((row) => transfers.begin[row] > time);
    if (late.length === 0) return { whom: peers.map((row) => transfers.from[row]), why: "the sum is under way" };
    // Where all slices begin together, the one that all wait for is still computing.
    const last = late.find((row) => this.busy(transfers.from[row], row, time)) ?? late[0];
    const root = transfers.from[last];
    return { whom: [root], root, why: `${this.run.nameOf(root)} ${this.busy(root, last, time) ?? "has not joined the sum"}` };
  }

  /** A chunk that a node is sending at a time; null when it sends nothing. */
  sends(node, time) {
    const { transfers } = this.run;
    let found = null;
    this.run.moving.at(time, (row) => { if (transfers.from[row] === node && time < transfers.sent[row]) found = row; });
    return found;
  }

  linkReason(sender, time) {
    const { transfers } = this.run;
    const other = this.sends(sender, time);
    return other === null ? `${this.run.nameOf(sender)} has not begun to send its chunk` : `the links are still busy with bucket ${transfers.bucket[other]}`;
  }

  /** Why a server has not answered: pushes are missing, or it works, or the answer is on its way. */
  whyNoAnswer(server, row, time) {
    const { transfers } = this.run;
    if (transfers.begin[row] <= time) return { whom: [server], root: server, why: `the answer of ${this.run.nameOf(server)} is on the link` };
    const pushes = this.pushesFor(row).filter((push) => this.together || transfers.from[push] === transfers.to[row]);
    const missing = pushes.filter((push) => transfers.arrived[push] > time);
    if (missing.length === 0) return { whom: [server], root: server, why: this.serverReason(server, time) };
    const late = missing.map((push) => transfers.from[push]).sort((a, b) => a - b);
    return { whom: late, root: transfers.from[latest(transfers, missing)], server, have: pushes.length - missing.length, need: pushes.length, late, why: this.missingReason(missing, time) };
  }

  serverReason(server, time) {
    const doing = this.doing(server, time);
    const name = this.run.nameOf(server);
    if (doing?.kind === "apply") return `${name} updates the parameters`;
    if (doing?.kind === "reduce") return `${name} adds gradients`;
    return `${name} has ${this.together ? "all gradients" : "the gradient"}, but ${this.sends(server, time) === null ? "it has not answered yet" : "its link is busy with other answers"}`;
  }

  missingReason(missing, time) {
    const { transfers } = this.run;
    const last = latest(transfers, missing);
    const worker = transfers.from[last];
    if (transfers.begin[last] <= time) return this.shareReason(last, time);
    const busy = this.busy(worker, last, time);
    return busy ? `${this.run.nameOf(worker)} ${busy}` : this.linkReason(worker, time);
  }

  /** A push that is under way: alone, or one of many that share the link into the server. */
  shareReason(push, time) {
    const { transfers } = this.run;
    let sharing = 0;
    this.run.moving.at(time, (row) => { if (transfers.to[row] === transfers.to[push]) ++sharing; });
    if (sharing < 2) return `the gradient of ${this.run.nameOf(transfers.from[push])} is on the link`;
    return `${sharing} chunks share the link into ${this.run.nameOf(transfers.to[push])}`;
  }

  /** The pushes of the part and the step that a pull answers. */
  pushesFor(pull) {
    const { transfers } = this.run;
    const rows = this.chunks.get(chunkKey(this.run, pull)) ?? [];
    return rows.filter((row) => this.run.phase(row) === "push" && transfers.to[row] === transfers.from[pull]);
  }

  /** What keeps a node from sending the chunk `row`; null once it has submitted that bucket, because sending overlaps with computing. */
  busy(node, row, time) {
    const { step, bucket } = this.run.transfers;
    if ((this.submitted.get(`${node} ${step[row]} ${bucket[row]}`) ?? Infinity) <= time) return null;
    const kind = this.doing(node, time)?.kind;
    return { backward: "is still in its backward pass", forward: "is still in its forward pass", data: "waits for its data", evaluate: "is evaluating" }[kind] ?? null;
  }
}

const latest = (transfers, rows) => rows.reduce((a, b) => (transfers.arrived[a] >= transfers.arrived[b] ? a : b));

export function chunkKey(run, row) {
  const { step, bucket, offset } = run.transfers;
  return `${step[row]} ${bucket[row]} ${offset[row]}`;
}

function groupByText(count, key) {
  const groups = new Map();
  for (let row = 0; row < count; ++row) {
    const name = key(row);
    const group = groups.get(name);
    if (group) group.push(row); else groups.set(name, [row]);
  }
  return groups;
}

/** When each worker has submitted each bucket of each step. */
function submitsOf(run) {
  const { spans, kinds } = run;
  const ends = new Map();
  for (let row = 0; row < spans.count; ++row) if (spans.kind[row] === kinds.submit) ends.set(`${spans.node[row]} ${spans.step[row]} ${spans.bucket[row]}`, spans.end[row]);
  return ends;
}

/** Whether the servers update once for the pushes of all workers, as the record shows. */
function updatesTogether(run) {
  const pushes = run.transfers.phase.filter((phase) => run.phases[phase] === "push").length;
  const own = run.updates.node.filter((node) => run.nodes[node].kind === "server").length;
  return own === 0 || run.workers.length < 2 || pushes / own > 1.5;
}
