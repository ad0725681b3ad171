// Makes the questions from the recorded runs: when to ask, what can be answered, what is right, and why.
// A question is {run, time, text, options: [{value, label}], answer, explain: [sentences]}.
import { bytes, capital, compact, integer, ms } from "./format.js";
import { bytesAStep, stepTotals } from "./totals.js";

const MOST_OPTIONS = 10;
const CLOSE = 0.05;
// A question comes after this part of the first step, when the page has shown something.
const EARLIEST = 0.05;

/** All questions about the runs, in no order. `waitingOf(run)` gives what is known of waiting. */
export function makeQuestions(runs, waitingOf) {
  const out = [];
  if (runs.length === 2) out.push(whoIsFirst(runs));
  for (const run of runs) {
    const totals = stepTotals(run).filter((total) => total.chunks > 0);
    out.push(whatLimits(run, totals), run.servers.length > 0 ? bytesOfAServer(run, totals) : bytesOfAWorker(run, totals), lastWorker(run, waitingOf(run), totals), staleness(run), whomItWaitsFor(run, waitingOf(run)));
  }
  return out.filter((question) => question !== null);
}

/** The first time at which a question about a run can be asked. What begins before the page has lost its true begin. */
function earliest(run) {
  const { begin_us: begin, end_us: end } = run.steps[0] ?? { begin_us: run.begin, end_us: run.end };
  return Math.max(begin, run.begin) + EARLIEST * (end - begin);
}

const option = (value, label = value) => ({ value: String(value), label: String(label) });

function whoIsFirst(runs) {
  const numbers = runs[0].steps.map((step) => step.step).filter((number) => runs[1].steps.some((step) => step.step === number));
  if (numbers.length === 0) return null;
  const number = numbers[0];
  const [a, b] = runs.map((run) => run.steps.find((step) => step.step === number));
  const [timeA, timeB] = [a, b].map((step) => step.end_us - step.begin_us);
  const close = Math.abs(timeA - timeB) <= CLOSE * Math.max(timeA, timeB);
  const faster = timeA < timeB ? 0 : 1;
  const factor = Math.max(timeA, timeB) / Math.min(timeA, timeB);
  return {
    run: runs[0], time: Math.max(a.begin_us + EARLIEST * timeA, earliest(runs[0])), text: `Which run takes less time for step ${number}?`,
    options: [option("0", runs[0].title), option("1", runs[1].title), option("same", "They differ by at most 5 %")], answer: close ? "same" : String(faster),
    explain: [`${runs[0].title} takes ${ms(timeA)}, ${runs[1].title} takes ${ms(timeB)}.`, close ? "That is nearly the same." : `${runs[1 - faster].title} takes ${factor.toFixed(2)} times as long.`],
  };
}

function whatLimits(run, totals) {
  if (run.bound_ms === null || run.bound_resource === "" || totals.length === 0) return null;
  const resources = [...new Set(["network", "compute", run.bound_resource])];
  const share = run.step_ms ? [`The measured step is ${compact(run.step_ms)} ms, which is ${(run.step_ms / run.bound_ms).toFixed(2)} times the bound.`] : [];
  return {
    run, time: Math.max(late(run, totals).begin + 0.6 * late(run, totals).duration, earliest(run)), text: `In theory, what limits a step of ${run.title}?`,
    options: resources.map((one) => option(one)), answer: run.bound_resource,
    explain: [`The bound of a step is ${compact(run.bound_ms)} ms, and it comes from: ${run.bound_resource}.`, ...share],
  };
}

/** Options from [formula, bytes]; equal amounts count once. The measured amount is always one of them. */
function amountOptions(formulas, measured) {
  const options = [];
  for (const [formula, amount] of formulas) {
    if (options.some((one) => Math.abs(one.amount - amount) <= 0.03 * amount)) continue;
    options.push({ ...option(formula, `${bytes(amount)} (${formula})`), amount });
  }
  const nearest = options.reduce((a, b) => (Math.abs(a.amount - measured) <= Math.abs(b.amount - measured) ? a : b));
  if (Math.abs(nearest.amount - measured) <= 0.1 * measured) return { options, answer: nearest.value };
  options.push({ ...option("another amount", `${bytes(measured)} (another amount)`), amount: measured });
  return { options, answer: "another amount" };
}

function bytesOfAWorker(run, totals) {
  const measured = bytesAStep(totals, run.workers, "sent");
  const workers = run.workers.length, all = 4 * run.parametersSaid;
  if (!measured || workers < 2 || all === 0 || run.topology !== "ring" && run.servers.length === 0) return null;
  const made = amountOptions([["M / N", all / workers], ["M", all], ["2(N−1)/N × M", 2 * (workers - 1) / workers * all], ["N × M", workers * all]], measured);
  const why = run.servers.length === 0
    ? "In a ring a worker sends N−1 chunks to sum the gradients and N−1 chunks to pass the sums on. Each chunk is M / N. So the amount hardly grows with N."
    : "A worker sends its whole gradient to the servers once, however many workers there are.";
  return { run, time: firstChunk(run, totals), ...made, text: `How much does one worker of ${run.title} send in a step? There are N = ${workers} workers; M = ${bytes(all)} is the size of all gradients.`,
           explain: [`On average a worker sent ${bytes(measured)} in each recorded step.`, why] };
}

function bytesOfAServer(run, totals) {
  if (run.servers.length === 0) return null;
  const measured = bytesAStep(totals, run.servers, "received");
  const [workers, servers, all] = [run.workers.length, run.servers.length, 4 * run.parametersSaid];
  if (!measured || workers < 2 || all === 0) return null;
  const made = amountOptions([["M / S", all / servers], ["M", all], ["N × M / S", workers * all / servers], ["2 × N × M / S", 2 * workers * all / servers]], measured);
  return { run, time: firstChunk(run, totals), ...made, text: `How much does one server of ${run.title} receive in a step? N = ${workers} workers, S = ${servers} server${servers > 1 ? "s" : ""}, M = ${bytes(all)}.`,
           explain: [`On average a server received ${bytes(measured)} in each recorded step.`, "Every worker sends it the gradient of its part. So one server's link carries N times that part, and more servers share the load."] };
}

function firstChunk(run, totals) {
  const { transfers } = run;
  const from = earliest(run);
  for (let row = 0; row < transfers.count; ++row) if (transfers.step[row] === late(run, totals).step && transfers.begin[row] >= from) return transfers.begin[row];
  return Math.max(from, totals[0].begin);
}

/** The step in which a run's questions about figures are asked: a later one for the second run, so that they come one by one. */
const late = (run, totals) => totals[Math.min(run.index, totals.length - 1)];

/** The update of a server whose gradients came at the most different times. */
function lastWorker(run, waiting, totals) {
  const { updates, transfers } = run;
  if (run.servers.length === 0 || !waiting.together || run.workers.length > MOST_OPTIONS || run.workers.length < 2) return null;
  const from = earliest(run);
  let best = null;
  for (let row = 0; row < updates.count; ++row) {
    if (run.nodes[updates.node[row]].kind !== "server") continue;
    const pushes = (waiting.chunks.get(`${updates.step[row]} ${updates.bucket[row]} ${updates.offset[row]}`) ?? [])
      .filter((push) => run.phase(push) === "push" && transfers.to[push] === updates.node[row]).sort((a, b) => transfers.arrived[a] - transfers.arrived[b]);
    if (pushes.length < 2 || updates.step[row] === totals[0]?.step || pushes.some((push) => transfers.begin[push] < from)) continue;
    const spread = transfers.arrived[pushes.at(-1)] - transfers.arrived[pushes[0]];
    if (best === null || spread > best.spread) best = { row, pushes, spread };
  }
  return best && lastWorkerQuestion(run, best);
}

function lastWorkerQuestion(run, { row, pushes, spread }) {
  const { updates, transfers } = run;
  const last = updates.last[row] >= 0 ? updates.last[row] : transfers.from[pushes.at(-1)];
  const push = pushes.find((one) => transfers.from[one] === last) ?? pushes.at(-1);
  return {
    run, time: Math.min(...pushes.map((one) => transfers.begin[one])), text: `${capital(run.nameOf(updates.node[row]))} of ${run.title} is about to collect the gradients of bucket ${updates.bucket[row]}, step ${updates.step[row]}. For which worker will it wait longest?`,
    options: run.workers.map((node) => option(node.index, node.name)), answer: String(last),
    explain: [`The gradient of ${run.nameOf(last)} came last. It left at ${ms(transfers.begin[push])} and was there at ${ms(transfers.arrived[push])}.`,
              `That is ${ms(spread)} after the first gradient, and until then no worker could get new parameters.`],
  };
}

function staleness(run) {
  const { transfers } = run;
  const from = earliest(run);
  let best = null;
  for (let row = 0; row < transfers.count; ++row) {
    if (run.phase(row) === "push" && transfers.begin[row] >= from && transfers.staleness[row] > 0 && (best === null || transfers.staleness[row] > transfers.staleness[best])) best = row;
  }
  if (best === null) return null;
  const [stale, worker, server] = [transfers.staleness[best], run.nameOf(transfers.from[best]), run.nameOf(transfers.to[best])];
  const values = Array.from({ length: Math.min(MOST_OPTIONS, stale + 3) }, (_, i) => Math.max(0, stale + 3 - MOST_OPTIONS) + i);
  return {
    run, time: transfers.begin[best], text: `${capital(worker)} of ${run.title} sends ${server} a gradient of bucket ${transfers.bucket[best]}. How many versions will the server be ahead when it arrives?`,
    options: values.map((value) => option(value)), answer: String(stale),
    explain: [`The gradient was computed from version ${transfers.version[best]}.`, `Until it arrived at ${ms(transfers.arrived[best])}, ${server} had updated this part ${integer(stale)} time${stale > 1 ? "s" : ""} with gradients of other workers.`],
  };
}

/** The longest wait whose cause is one node. */
function whomItWaitsFor(run, waiting) {
  const { spans, transfers, kinds } = run;
  if (transfers.count === 0 || run.nodes.length < 3) return null;
  const awaits = [], from = earliest(run);
  for (let row = 0; row < spans.count; ++row) if (spans.kind[row] === kinds.await && spans.begin[row] >= from) awaits.push(row);
  awaits.sort((a, b) => spans.end[b] - spans.begin[b] - (spans.end[a] - spans.begin[a]));
  for (const row of awaits.slice(0, 40)) {
    const wait = waiting.waitOf(spans.node[row], spans.begin[row] + 1);
    if (wait && wait.whom.length === 1 && wait.root !== spans.node[row] && run.nodes.length <= MOST_OPTIONS + 1) return waitQuestion(run, row, wait);
  }
  return null;
}

function waitQuestion(run, row, wait) {
  const { spans } = run;
  const me = spans.node[row];
  return {
    run, time: spans.begin[row] + 1, text: `${capital(run.nameOf(me))} of ${run.title} now waits for bucket ${spans.bucket[row]}. Which node holds it up at this moment?`,
    options: run.nodes.filter((node) => node.index !== me).map((node) => option(node.index, node.name)), answer: String(wait.root),
    explain: [`It is ${run.nameOf(wait.root)}: ${wait.why}.`, `${capital(run.nameOf(me))} waits ${ms(spans.end[row] - spans.begin[row])} in all.`],
  };
}
