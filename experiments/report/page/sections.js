// The sections of text and tables: verdict, numbers, runs, links, problems and method.
import { add, badge, dropDown, el, section } from "./dom.js";
import { bits, byteRate, bytes, compact, ends, fixed, integer, intervalText, percent, text } from "./format.js";
import { isLimited, median, serversText } from "./study.js";
import { Table } from "./table.js";

const factor = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(4))) : text(null));

const SURE = {
  clear: ["good", "clear", "the 95 % interval of the ratio does not contain 1"],
  equal: ["good", "tie", "the whole 95 % interval of the ratio is within 2 % of 1"],
  unclear: ["warn", "tie", "the 95 % interval of the ratio contains 1: these runs do not show which strategy is faster"],
  "points only": ["warn", "points only", "fewer than five pairs of runs give no interval: take this as a hint"],
};
const SMALL_TIE = "the difference is smaller than 2 %";
const UNSURE_TIE = "the difference is smaller than its uncertainty";

/** The result of a comparison whose ratio is above 1 where `ahead` is faster, and below 1 where `behind` is. */
function result(tie, certainty, ratio, ahead, behind) {
  const [kind, label, meaning] = SURE[certainty] ?? ["plain", text(certainty), ""];
  if (!tie) return el("span", {}, `${ratio > 1 ? ahead : behind} `, badge(kind, label, meaning));
  const small = certainty === "equal" || (certainty === "points only" && Math.max(ratio, 1 / ratio) < 1.02);
  return el("span", {}, badge(small ? "good" : "warn", small ? "tie within 2 %" : "tie within their uncertainty", small ? SMALL_TIE : UNSURE_TIE),
    certainty === "points only" ? badge("warn", "points only", meaning) : null);
}

function certainty(word) {
  const [kind, label, meaning] = SURE[word] ?? ["plain", text(word), ""];
  return [badge(kind, label), meaning ? ` ${meaning}.` : ""];
}

export function subject(study) {
  const { cells, data } = study;
  const done = cells.reduce((sum, cell) => sum + cell.runs, 0);
  const bad = data.failed?.length ?? 0;
  const count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const parts = [`${count(done, "run")} of ${count(cells.length, "configuration")}`];
  if (bad > 0) parts.push(`${bad} did not finish well`);
  if (study.limited > 0) parts.push(`${study.limited} limited by the machine`);
  const shared = data.constants?.length > 0 ? `. All runs: ${data.constants.join(", ")}.` : "";
  return parts.join(" · ") + shared;
}

export function verdict(study) {
  const { verdict: said, findings = [] } = study.data;
  const box = el("div", { class: "verdict" });
  add(box, el("p", { class: "sentence" }, said?.sentence || "This study has no verdict: it compares no strategies."));
  if (said?.sentence && said.certainty && said.winner !== "none") add(box, el("p", { class: "sure" }, "How sure: ", ...certainty(said.certainty),
    said.certainty !== "unclear" && findings.some((one) => one.certainty === "unclear") ? " This says nothing of comparisons that tie within their uncertainty." : null));
  if (said?.details?.length > 0) add(box, el("ul", { class: "details" }, said.details.map((one) => el("li", {}, one))));
  const caveats = [...(said?.caveats ?? [])];
  if (study.mixesTransports && !caveats.some((one) => one.includes("transport"))) {
    caveats.push(`Strategies used different transports (${study.transports.join(", ")}): such rows compare transports too.`);
  }
  if (study.emulated && !caveats.some((one) => one.includes("emulated"))) caveats.push("Compute was emulated: workers waited for its time. Every byte was really sent.");
  const missing = (study.data.failed?.length ?? 0) + (study.data.problems?.length ?? 0);
  if (missing > 0) caveats.push(el("a", { href: "#failures" }, missing === 1 ? "One run or bundle is left out." : `${missing} runs or bundles are left out.`));
  if (caveats.length > 0) add(box, el("ul", {}, caveats.map((one) => el("li", {}, one))));
  if (study.data.demo_page) add(box, el("p", {}, el("a", { href: study.data.demo_page }, "See two of these runs at work, chunk by chunk.")));
  return section("verdict", "Verdict", box, findings.length > 0 ? findingsTable(study, findings) : null, claimsTable(study.data.claims ?? []));
}

const OUTCOMES = { shown: "good", refuted: "bad", undecided: "warn" };

function claimsTable(claims) {
  if (claims.length === 0) return null;
  const columns = [
    { title: "outcome", left: true, value: (c) => c.outcome, show: (v) => badge(OUTCOMES[v] ?? "plain", text(v)) },
    { title: "claim", left: true, wide: true, value: (c) => c.claim },
    { title: "with", left: true, value: (c) => c.place },
    { title: "numbers", left: true, wide: true, value: (c) => c.numbers },
  ];
  return [el("h3", {}, "Common claims, tested by these runs"),
          el("p", { class: "note" }, "A claim is shown or refuted when the whole 95 % interval says so. It is undecided when the interval allows both, or with fewer than five runs."),
          new Table("claims-table", "Claims", columns, claims).node];
}

function findingsTable(study, findings) {
  const cells = study.cells;
  const label = (index) => (cells[index] ? study.seriesOf(cells[index]) : null);
  const transport = (index) => cells[index]?.transport || "–";
  const columns = [
    { title: "workers", value: (f) => f.workers },
    ...study.data.varied.filter((key) => findings.some((f) => f.varied && key in f.varied))
      .map((key) => ({ title: study.nameOf(key), left: true, value: (f) => f.varied?.[key], show: (v) => (v === undefined ? "–" : study.textOf(key, v)) })),
    ...(findings.some((f) => f.synchronous_only)
      ? [{ title: "among", left: true, value: (f) => (f.synchronous_only ? "synchronous ones" : "all strategies") }] : []),
    { title: "best parameter server", left: true, value: (f) => label(f.ps_cell) },
    { title: "best ring", left: true, value: (f) => label(f.ring_cell) },
    ...(findings.some((f) => f.transports_differ) || new Set(findings.map((f) => f.medium)).size > 1
      ? [{ title: "server / ring over", left: true, value: (f) => `${transport(f.ps_cell)} / ${transport(f.ring_cell)}`, show: (v, f) => v + (f.transports_differ ? " *" : "") }] : []),
    ...(findings.some((f) => f.server_hosts > 0) ? [{ title: "more hosts", value: (f) => f.server_hosts }] : []),
    { title: "ring / server", value: (f) => f.ring_over_ps?.ratio, show: (v) => `${fixed(3)(v)}×` },
    { title: "95 % interval", value: (f) => ends(f.ring_over_ps?.interval)?.[0], show: (_, f) => text(intervalText(f.ring_over_ps?.interval, fixed(3))) },
    { title: "P(ring faster)", value: (f) => f.ring_over_ps?.p_greater, show: fixed(2) },
    { title: "result", left: true, value: (f) => f.winner, show: (_, f) => result(f.tie, f.certainty, f.ring_over_ps?.ratio, "ring faster", "server faster") },
  ];
  return [el("h3", {}, "Finding by finding"), el("p", { class: "note" }, `Ratios are of throughput: above 1 the ring is faster.${
            findings.some((f) => f.transports_differ) ? " * The two use different transports, so the ratio compares transports too." : ""}`),
          new Table("findings-table", "Findings", columns, findings).node];
}

function withInterval(name, format) {
  return (value, cell) => {
    const interval = cell.intervals?.[name];
    return interval ? el("span", {}, format(value), " ", el("small", {}, `[${intervalText(interval, format)}]`)) : format(value);
  };
}

/** The reason why a step is outside 1.00 to 1.15 of its bound, or above 1.05 of its achievable step, as far as the runs recorded it. */
function whyColumn(cells) {
  if (!cells.some((cell) => cell.bound_explanation)) return [];
  const show = (why, cell) => (why ? el("span", {}, cell.bound_explained === false ? badge("warn", "open") : null, why) : "–");
  return [{ title: "why not at its bound", left: true, wide: true, value: (cell) => cell.bound_explanation, show }];
}

const NUMBERS = [
  ["step_ms", "step, ms", fixed(2)], ["wall_step_ms", "machine's step, ms", fixed(1)], ["exposed_comm_ms", "exposed, ms", fixed(2)], ["samples_per_s", "samples/s", integer],
  ["speedup", "speed-up", fixed(2)], ["efficiency", "efficiency", percent], ["serial_fraction", "serial fraction", fixed(3)], ["bytes_per_step", "sent/step", bytes],
  ["bound_bytes_per_step", "bound/step", bytes], ["bound_ms", "bound, ms", fixed(2)], ["bound_ratio", "step/bound", fixed(2)],
  ["achievable_ms", "achievable, ms", fixed(2)], ["achievable_ratio", "step/achievable", fixed(2)],
  ["accuracy", "accuracy", percent], ["test_loss", "test loss", fixed(4)], ["train_loss", "training loss", fixed(4)], ["staleness_mean", "staleness", fixed(2)],
  ["seconds_to_target", "s to target", fixed(2)], ["core_seconds_per_sample", "core-s/sample", compact], ["nic_bytes_per_sample", "NIC bytes/sample", bytes],
];

/** What else was measured on held-out data, of a cell or of a run: a column for each name. */
function metricColumns(study) {
  const names = [...new Set(study.cells.flatMap((cell) => Object.keys(cell.metrics ?? {})))].sort();
  return names.map((name) => ({ title: name, value: (row) => row.metrics?.[name], show: compact }));
}

function variedColumns(study, cellOf) {
  return study.data.varied.map((key) => ({ title: study.nameOf(key), left: true, value: (row) => cellOf(row).varied[key], show: (v) => study.textOf(key, v) }));
}

/** The dilation factor of a cell or of a run; a column only where some factor is not 1. */
function factorColumns(study) {
  if (!study.dilated) return [];
  return [{ title: "dilation factor", value: (row) => row.dilation_factor, show: factor }];
}

function strategyColumns(study, cellOf) {
  return [
    { title: "strategy", left: true, value: (row) => cellOf(row).strategy },
    ...variedColumns(study, cellOf),
    { title: "workers", value: (row) => cellOf(row).workers },
    ...(study.cells.some((cell) => cell.servers) ? [{ title: "servers", value: (row) => cellOf(row).servers, show: (_, row) => serversText(cellOf(row)) }] : []),
    ...(study.transports.length > 0 ? [{ title: "transport", left: true, value: (row) => cellOf(row).transport, show: (v) => (v ? v + (study.mixesTransports ? " *" : "") : "–") }] : []),
  ];
}

/** How the step time of every line grows; null when no strategy ran with two numbers of workers. */
export function growthTable(study) {
  const lines = study.data.scaling ?? [];
  if (!lines.some((line) => Number.isFinite(line.step_ms_slope))) return null;
  const amdahl = lines.some((line) => Number.isFinite(line.amdahl_serial_fraction));
  const columns = [
    { title: "strategy", left: true, value: (line) => line.label },
    { title: "ms per worker", value: (line) => line.step_ms_slope, show: compact },
    { title: "intercept, ms", value: (line) => line.step_ms_intercept, show: compact },
    { title: "R²", value: (line) => line.step_ms_r2, show: fixed(3) },
    ...(amdahl ? [{ title: "serial fraction", value: (line) => line.amdahl_serial_fraction, show: fixed(3) }] : []),
  ];
  return [el("h3", {}, "How the step time grows"), el("p", { class: "note" },
    `The step time as a straight line over the workers, fitted to the runs by least squares. R² near 1 means that it grows linearly.${
      amdahl ? " The serial fraction is the one of Amdahl's law that fits the speed-ups best." : ""}`),
    new Table("growth-table", "How the step time grows", columns, lines).node];
}

/** The columns of a comparison, which `of` takes from a row. */
function comparisonColumns(of) {
  return [
    { title: "ratio", value: (row) => of(row)?.ratio, show: (v) => `${fixed(3)(v)}×` },
    { title: "95 % interval", value: (row) => ends(of(row)?.interval)?.[0], show: (_, row) => text(intervalText(of(row)?.interval, fixed(3))) },
    { title: "P(faster)", value: (row) => of(row)?.p_greater, show: fixed(2) },
    { title: "result", left: true, value: (row) => row.certainty, show: (_, row) => result(row.tie, row.certainty, of(row)?.ratio, "faster", "slower") },
  ];
}

function carriersTable(found) {
  if (found.length === 0) return null;
  const title = "The same strategy, carried differently";
  const columns = [
    { title: "change", left: true, value: (row) => row.change },
    { title: "with", left: true, value: (row) => row.place },
    { title: "strategy", left: true, value: (row) => row.strategy },
    ...comparisonColumns((row) => row.over_default),
  ];
  return [el("h3", {}, title), el("p", { class: "note" }, "Ratios of throughput: above 1 the changed configuration is faster."),
    new Table("carriers-table", title, columns, found).node];
}

function pairsTable(found) {
  if (found.length === 0) return null;
  const columns = [
    { title: "with", left: true, value: (pair) => pair.place },
    { title: "compared", left: true, value: (pair) => pair.compared, show: (v, pair) => v + (pair.transports_differ ? " *" : "") },
    { title: "baseline", left: true, value: (pair) => pair.baseline },
    ...comparisonColumns((pair) => pair.over_baseline),
  ];
  return [el("h3", {}, "Each strategy against its baseline"), el("p", { class: "note" },
    `Ratios of throughput: above 1 the strategy is faster than the baseline.${
      found.some((pair) => pair.transports_differ) ? " * It used another transport than the baseline, so transports are compared too." : ""}`),
    new Table("pairs-table", "Each strategy against its baseline", columns, found).node];
}

function runsText(runs, cell) {
  const count = cell.failed ? `${runs} + ${cell.failed} failed` : runs;
  if (!cell.limited) return count;
  const [kind, mark] = cell.takes_part === false ? ["bad", "all limited"] : ["warn", `${cell.limited} limited`];
  return el("span", {}, count, " ", badge(kind, mark, cell.limited_by));
}

export function cellTable(study) {
  const { cells } = study;
  if (cells.length === 0) return null;
  const has = (name) => cells.some((cell) => Number.isFinite(cell[name]));
  // The accuracy says more than the loss.
  const left = (name) => (name === "wall_step_ms" && !study.dilated) || (name === "test_loss" && has("accuracy"));
  const filled = NUMBERS.filter(([name]) => has(name) && !left(name));
  const columns = [...strategyColumns(study, (cell) => cell),
    { title: "runs", value: (cell) => cell.runs, show: runsText }, ...factorColumns(study),
    ...filled.map(([name, title, format]) => ({ title, value: (cell) => cell[name], show: withInterval(name, format) })), ...metricColumns(study), ...whyColumn(cells)];
  const table = new Table("cells-table", "Configurations and their medians", columns, cells);
  const baselines = [...new Set(cells.map((cell) => cell.baseline).filter(Boolean))];
  return section("cells", "The numbers", el("p", { class: "note" },
    `Medians over runs; in brackets the 95 % interval, given for five runs or more. Exposed: the time that a step waits for communication. ${
      baselines.length > 0 ? `Speed-up: samples/s over the best single worker (${baselines.join("; ")}).` : "No speed-up: no run has a single worker."} Click a column's title to sort.`),
    study.mixesTransports ? el("p", { class: "note" }, "* Rows over different transports compare transports as well as strategies.") : null,
    study.limited > 0 ? el("p", { class: "note" }, LIMITED) : null, table.node,
    pairsTable(study.data.pairs ?? []), carriersTable(study.data.carriers ?? []));
}

function copyButton(command) {
  const button = el("button", { type: "button", "aria-label": `Copy ${command}` }, "Copy");
  const copied = () => { button.textContent = "Copied"; };
  button.addEventListener("click", () => {
    const byHand = () => {
      const area = el("textarea", { "aria-hidden": "true" });
      area.value = command;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
      copied();
    };
    // A page opened from a file may have no clipboard.
    if (navigator.clipboard) navigator.clipboard.writeText(command).then(copied, byHand); else byHand();
  });
  return button;
}

const LIMITED = "Limited: the machine was too slow for the run, which takes no part in verdicts. A row's numbers come from its other runs, or from all runs if every one is limited.";

function marks(run) {
  const found = [];
  if (run.fidelity?.verdict === "limited") found.push(badge("bad", "limited by the machine", run.fidelity.limited_by.join("; ")));
  if (run.status === "done" && run.fidelity?.verdict === null) found.push(badge("bad", "not judged", run.fidelity.not_judged));
  if (run.outlier) found.push(badge("warn", "far from its median"));
  if (run.link_ok === false) found.push(badge("bad", "link not as asked"));
  if (run.warmup_short) found.push(badge("warn", "warm-up short"));
  return found;
}

export function runTable(study) {
  if (study.runs.length === 0) return null;
  const cellOf = (run) => run.cell;
  const columns = [
    { title: "status", left: true, value: (run) => run.status, show: (v) => badge(v === "done" ? "good" : "bad", v) },
    ...strategyColumns(study, cellOf),
    ...factorColumns(study),
    { title: "repetition", value: (run) => run.repetition }, { title: "seed", value: (run) => run.seed },
    { title: "step, ms", value: (run) => run.step_ms, show: (v, run) => el("span", {}, fixed(2)(v), Number.isFinite(run.step_ms_p10)
      ? el("small", {}, ` [${fixed(2)(run.step_ms_p10)} to ${fixed(2)(run.step_ms_p90)}]`) : "") },
    ...(study.dilated ? [{ title: "machine's step, ms", value: (run) => run.wall_step_ms, show: fixed(1) }] : []),
    { title: "samples/s", value: (run) => run.samples_per_s, show: integer },
    { title: "accuracy", value: (run) => run.accuracy, show: percent },
    ...metricColumns(study),
    { title: "loss", value: (run) => run.train_loss, show: fixed(4) },
    { title: "marks", left: true, value: (run) => marks(run).length, show: (_, run) => { const found = marks(run); return found.length ? el("span", {}, found) : "–"; } },
    ...(study.limited > 0 ? [{ title: "limited by", left: true, wide: true, value: (run) => run.fidelity?.limited_by?.join("; "), show: text }] : []),
    { title: "run", left: true, value: (run) => run.run_id, show: (v) => el("span", { class: "mono" }, v) },
    { title: "run it again", left: true, value: (run) => run.command, show: (v) => el("span", { class: "command" }, el("code", { title: v }, v), copyButton(v)) },
  ];
  const table = new Table("runs-table", "Every run", columns, study.runs, "No run contains these words.");
  const count = el("p", { class: "note", role: "status", id: "runs-count" });
  table.onChange((shown, all) => { count.textContent = shown === all ? `${all} runs` : `${shown} of ${all} runs`; });
  const search = el("input", { type: "search", id: "runs-filter", placeholder: "words in any column", input: () => table.filter(search.value) });
  const pick = (label, valueOf) => {
    const values = [...new Set(study.runs.map(valueOf))];
    return values.length < 2 ? null : dropDown(label, [["", "all"], ...values.map((v) => [v, v])], "", (v) => table.pick(label, v === "" ? null : (run) => valueOf(run) === v));
  };
  return section("runs", "Every run", el("p", { class: "note" }, `In brackets are the 10th and 90th percentiles over the run's steps. Outliers are marked but never left out.${
      study.limited > 0 ? " Runs that the machine limited are left out of verdicts, and of the numbers of configurations that have other runs." : ""}`),
    el("div", { class: "controls" }, el("label", {}, "Filter", search), pick("Status", (run) => run.status), pick("Strategy", (run) => run.cell.strategy),
      pick("Workers", (run) => String(run.cell.workers))), count, table.node);
}

export function links(study) {
  const groups = new Map();
  for (const run of study.runs) {
    for (const link of run.links ?? []) {
      const key = JSON.stringify([link.host, link.rate_bits_per_s]);
      const group = groups.get(key) ?? { ...link, runs: 0, bad: 0, judged: 0, sent: [], received: [] };
      group.runs += 1;
      group.bad += link.ok === false ? 1 : 0;
      group.judged += link.ok === null ? 0 : 1;
      group.sent.push(link.sent_bytes_per_s);
      group.received.push(link.received_bytes_per_s);
      groups.set(key, group);
    }
  }
  if (groups.size === 0) return null;
  const inOrder = [...groups.values()].sort((a, b) => a.rate_bits_per_s - b.rate_bits_per_s || a.host.localeCompare(b.host, "en", { numeric: true }));
  const share = (values, group) => (group.expected_bytes_per_s ? median(values) / group.expected_bytes_per_s : null);
  const columns = [
    { title: "host", left: true, value: (g) => g.host }, { title: "asked for", value: (g) => g.rate_bits_per_s, show: bits },
    { title: "expected goodput", value: (g) => g.expected_bytes_per_s, show: byteRate },
    { title: "sent", value: (g) => median(g.sent), show: byteRate }, { title: "of expected", value: (g) => share(g.sent, g), show: percent },
    { title: "received", value: (g) => median(g.received), show: byteRate }, { title: "of expected", value: (g) => share(g.received, g), show: percent },
    { title: "runs", value: (g) => g.runs },
    { title: "mark", left: true, value: (g) => (g.judged === 0 ? null : g.bad), show: (v) => (v === null ? badge("plain", "not judged") : v === 0 ? badge("good", "as asked") : badge("bad", `not as asked in ${v}`)) },
  ];
  return section("links", "Links as calibrated", el("p", { class: "note" },
    "Goodput of every host's link, measured before the runs; medians over runs. Expected: 1448/1514 of the rate; packet headers take the rest."),
    new Table("links-table", "Links", columns, inOrder).node);
}

export function failures(study) {
  const { failed = [], incidents = [], problems = [] } = study.data;
  if (failed.length + incidents.length + problems.length === 0) return null;
  const rows = [...failed.map((run) => ({ what: run.label, status: run.status, cause: run.error, kind: run.kind, words: run.last_words, directory: run.directory })),
                ...incidents.map((one) => ({ what: one.label, status: "went on", cause: one.text, words: one.last_words, directory: one.directory })),
                ...problems.map((one) => ({ what: "bundle", status: one.damaged === false ? "unfinished" : "left out", cause: one.cause, directory: one.directory }))];
  const columns = [
    { title: "run", left: true, value: (row) => row.what }, { title: "status", left: true, value: (row) => row.status, show: (v) => badge(v === "went on" ? "warn" : "bad", v) },
    { title: "kind", left: true, value: (row) => row.kind, show: text },
    { title: "cause", left: true, wide: true, value: (row) => row.cause, show: text },
    { title: "last words of the workers", left: true, wide: true, value: (row) => row.words, show: text },
    { title: "bundle", left: true, value: (row) => row.directory, show: (v) => el("span", { class: "mono" }, v) },
  ];
  return section("failures", "Problems", el("p", { class: "note" }, "Runs that did not finish well, and bundles that are left out: no number on this page includes them. Runs in which something went wrong that did not end them (went on): numbers include them."),
    new Table("failures-table", "Problems", columns, rows).node);
}

function pairs(entries) {
  return el("dl", {}, entries.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

/** How slowly the clocks of runs on emulated hosts went, and what the factor cannot change. */
function dilation(study) {
  const { rows = [], scaled = [], not_scaled: notScaled = [] } = study.data.dilation ?? {};
  if (rows.length === 0) return null;
  const title = el("h3", {}, study.dilated ? "Dilated time" : "The emulated hosts' share of the machine");
  const columns = [
    { title: "factor", value: (row) => row.factor, show: factor },
    ...(rows.some((row) => row.asked !== String(row.factor)) ? [{ title: "asked", left: true, value: (row) => row.asked, show: text }] : []),
    { title: "cores", value: (row) => row.cores, show: integer }, { title: "hosts", value: (row) => row.hosts, show: integer },
    { title: "equivalent cores a host", value: (row) => row.equivalent_cores_per_host, show: compact },
    { title: "runs", value: (row) => row.runs }, { title: "limited", value: (row) => row.limited },
    ...(study.dilated ? [{ title: "trained, s (dilated)", value: (row) => row.train_seconds, show: compact }] : []),
    { title: "trained, s (machine)", value: (row) => row.train_seconds * row.factor, show: compact },
    { title: "whole runs, s (machine)", value: (row) => row.wall_seconds, show: compact },
  ];
  const said = study.data.method?.dilation;
  return [title, said ? el("p", { class: "note" }, `In this study ${said}.`) : null,
          el("p", { class: "note" }, "Equivalent cores a host: factor × cores / hosts. Each emulated host has as much processor time as a machine with so many cores."),
          new Table("dilation-table", "Factors, cores and hosts", columns, rows).node,
          !study.dilated ? null : pairs([...(scaled.length > 0 ? [["Scaled by the factor", scaled.join("; ")]] : []), ...(notScaled.length > 0 ? [["Not scaled", notScaled.join("; ")]] : [])])];
}

export function method(study) {
  const { method: how, environments = [], environment_differences: differences = [] } = study.data;
  const said = [];
  if (how) {
    said.push(["Intervals", `${how.interval}, ${(how.confidence * 100).toFixed(0)} %, ${integer(how.resamples)} resamples; none with fewer than ${how.minimum_runs} runs`]);
    if (how.outliers) said.push(["Outliers", how.outliers]);
    if (how.warmup) said.push(["Warm-up", how.warmup]);
    if (how.fidelity) said.push(["Fidelity", how.fidelity]);
  }
  said.push(["Figures", "a run's figure is the median over its counted steps; a configuration's figure is the median over runs"],
    ["Step time", "the time of the slowest worker in each step"],
    ["Exposed communication", "the time that a worker waits for the parameters of its next step"],
    ["Bound", "the least time or bytes that theory allows the strategy on the declared links, at a goodput of 1448/1514 of their rate"],
    ["Achievable", "the time of a step over the same links when buckets are sent in the strategy's order, each as soon as it is ready"],
    ["Why not at its bound", "only what the runs recorded: what the achievable step adds to the bound, the ratio's interval, links as calibrated, injected and other waiting for workers, codecs, queues, busy cores; milliseconds of a step"],
    ["Bytes", "as the kernel counted them on the sockets; shared memory counts none"],
    ["Cost", "processor time of whole processes, dedicated servers included, per sample trained on"]);
  const node = section("method", "Method and environment", pairs(said));
  if (how?.warnings?.length) add(node, el("h3", {}, "Warnings"), el("ul", {}, how.warnings.map((one) => el("li", {}, one))));
  add(node, dilation(study));
  environments.forEach((environment, i) => {
    const title = environments.length > 1 ? `Environment ${i + 1} (${environment.runs} runs)` : "Environment";
    add(node, el("h3", {}, title), pairs(Object.entries(environment.values ?? environment)));
  });
  if (differences.length > 0) add(node, el("p", { class: "note" }, `The environments differ in: ${differences.join(", ")}.`));
  return node;
}
