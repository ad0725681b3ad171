#include <array>

#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/report/cells/study_numbers.h"
#include "ringside/experiments/report/render/study_render.h"

namespace ringside {
namespace {

using nlohmann::json;

template <typename T>
json OrNull(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json JsonOf(const ConfidenceInterval& interval) {
  return {{"low", interval.low}, {"high", interval.high}};
}

json JsonOf(const std::optional<CriticalPath>& path) {
  if (!path) return nullptr;
  json object = json::object();
  for (const CriticalPart& part : kCriticalParts) object[part.name] = OrNull((*path).*part.value);
  return object;
}

json JsonOf(const std::map<std::int64_t, std::int64_t>& histogram) {
  json object = json::object();
  for (const auto& [versions, updates] : histogram) object[std::to_string(versions)] = updates;
  return object;
}

json JsonOf(const std::vector<CurvePoint>& curve) {
  json points = json::array();
  for (const CurvePoint& point : curve) {
    points.push_back({{"step", point.step},
                      {"epoch", point.epoch},
                      {"samples", point.samples},
                      {"train_seconds", point.train_seconds},
                      {"train_loss", OrNull(point.train_loss)},
                      {"loss", OrNull(point.loss)},
                      {"accuracy", OrNull(point.accuracy)}});
  }
  return points;
}

json JsonOf(const std::vector<StudyLink>& links) {
  json list = json::array();
  for (const StudyLink& link : links) {
    list.push_back({{"host", link.host},
                    {"rate_bits_per_s", OrNull(link.rate_bits_per_s)},
                    {"expected_bytes_per_s", OrNull(link.expected_bytes_per_s)},
                    {"sent_bytes_per_s", OrNull(link.sent_bytes_per_s)},
                    {"received_bytes_per_s", OrNull(link.received_bytes_per_s)},
                    {"ok", OrNull(link.ok)}});
  }
  return list;
}

json JsonOf(const std::optional<AchievableStep>& achievable) {
  if (!achievable) return {};
  json object{{"step_ms", achievable->step_ms}};
  for (const AchievablePart& part : kAchievableParts) object[part.name] = (*achievable).*part.value;
  return object;
}

json JsonOf(const std::optional<RunDilation>& dilation) {
  if (!dilation) return nullptr;
  return {{"factor", dilation->factor},
          {"asked", dilation->asked},
          {"cores", OrNull(dilation->cores)},
          {"hosts", OrNull(dilation->hosts)},
          {"equivalent_cores_per_host", OrNull(dilation->equivalent_cores_per_host)},
          {"wall_step_ms", OrNull(dilation->wall_step_ms)}};
}

json JsonOf(const std::optional<RunFidelity>& fidelity) {
  if (!fidelity) return nullptr;
  const bool judged = fidelity->verdict != FidelityVerdict::kNotJudged;
  return {{"verdict", judged ? json(FidelityName(fidelity->verdict)) : json(nullptr)},
          {"limited_by", fidelity->limited_by},
          {"not_judged", fidelity->not_judged},
          {"judged_seconds", OrNull(fidelity->judged_seconds)},
          {"least_idle_share", OrNull(fidelity->least_idle_share)},
          {"median_idle_share", OrNull(fidelity->median_idle_share)},
          {"late_wakeups_worst_ms", OrNull(fidelity->late_wakeups_worst_ms)},
          {"late_wakeups_allowed_ms", OrNull(fidelity->late_wakeups_allowed_ms)},
          {"retransmitted_share", OrNull(fidelity->retransmitted_share)},
          {"dropped_packets", OrNull(fidelity->dropped_packets)}};
}

json JsonOf(const StudyRun& run) {
  json row{{"run_id", run.run_id},
           {"directory", run.directory},
           {"command", run.command},
           {"seed", run.seed},
           {"repetition", run.repetition},
           {"status", run.status},
           {"error", run.error},
           {"started", run.started},
           {"environment", run.environment},
           {"step_ms_p10", OrNull(run.step_ms_p10)},
           {"step_ms_p90", OrNull(run.step_ms_p90)},
           {"submit_ms", OrNull(run.submit_ms)},
           {"data_ms", OrNull(run.data_ms)},
           {"codec_ms", OrNull(run.codec_ms)},
           {"eval_loss", OrNull(run.eval_loss)},
           {"wall_seconds", OrNull(run.wall_seconds)},
           {"train_seconds", OrNull(run.train_seconds)},
           {"startup_seconds", OrNull(run.startup_seconds)},
           {"seconds_to_target", OrNull(run.seconds_to_target)},
           {"epochs_to_target", OrNull(run.epochs_to_target)},
           {"samples_to_target", OrNull(run.samples_to_target)},
           {"warmup_steps", run.warmup_steps},
           {"timed_steps", OrNull(run.timed_steps)},
           {"warmup_detected", OrNull(run.warmup_detected)},
           {"warmup_short", run.warmup_short},
           {"outlier", run.outlier},
           {"link_ok", OrNull(run.link_ok)},
           {"dilation", JsonOf(run.dilation)},
           {"fidelity", JsonOf(run.fidelity)},
           {"links", JsonOf(run.links)},
           {"achievable", JsonOf(run.achievable)},
           {"critical_path", JsonOf(run.critical_path)},
           {"staleness", JsonOf(run.staleness)},
           {"metrics", run.metrics},
           {"curve", JsonOf(run.curve)},
           {"lost_workers", run.lost_workers},
           {"notes", run.notes}};
  for (const MedianNumber& number : kMedianNumbers) row[number.name] = OrNull(run.*number.run);
  return row;
}

json JsonOf(const StudyCell& cell) {
  json row{{"strategy", cell.strategy},
           {"family", cell.family},
           {"synchronous", cell.synchronous},
           {"workers", cell.workers},
           {"servers", cell.servers},
           {"colocated", cell.colocated},
           {"transport", cell.transport},
           {"varied", cell.varied},
           {"conditions", cell.conditions},
           {"scaling", cell.scaling},
           {"global_batch", cell.global_batch},
           {"emulated_compute", cell.emulated_compute},
           {"configuration", json::parse(cell.configuration)},
           {"runs", cell.runs},
           {"failed", cell.failed},
           {"limited", cell.limited},
           {"takes_part", !IsAllLimited(cell)},
           {"limited_by", LimitsText(DoneRuns(cell))},
           {"baseline", cell.baseline},
           {"speedup", OrNull(cell.speedup)},
           {"efficiency", OrNull(cell.efficiency)},
           {"serial_fraction", OrNull(cell.serial_fraction)},
           {"seconds_to_target", OrNull(cell.seconds_to_target)},
           {"epochs_to_target", OrNull(cell.epochs_to_target)},
           {"samples_to_target", OrNull(cell.samples_to_target)},
           {"reached_target", cell.reached_target},
           {"bound_flag", cell.bound_flag},
           {"bound_explanation", cell.bound_explanation},
           {"bound_explained", cell.bound_explained},
           {"critical_path", JsonOf(cell.critical_path)},
           {"staleness", JsonOf(cell.staleness)},
           {"metrics", cell.metrics},
           {"intervals", json::object()},
           {"results", json::array()}};
  for (const MedianNumber& number : kMedianNumbers) row[number.name] = OrNull(cell.*number.cell);
  for (const auto& [name, interval] : cell.intervals) row["intervals"][name] = JsonOf(interval);
  for (const StudyRun& run : cell.results) row["results"].push_back(JsonOf(run));
  return row;
}

json JsonOf(const StudyScaling& series) {
  return {{"label", series.label},
          {"cells", series.cells},
          {"step_ms_slope", OrNull(series.step_ms_slope)},
          {"step_ms_intercept", OrNull(series.step_ms_intercept)},
          {"step_ms_r2", OrNull(series.step_ms_r2)},
          {"amdahl_serial_fraction", OrNull(series.amdahl_serial_fraction)}};
}

json JsonOf(const Finding& finding) {
  return {{"workers", finding.workers},
          {"varied", finding.varied},
          {"conditions", finding.conditions},
          {"synchronous_only", finding.synchronous_only},
          {"ps_cell", finding.ps_cell},
          {"ring_cell", finding.ring_cell},
          {"metric", finding.metric},
          {"winner", finding.winner},
          {"certainty", CertaintyName(finding.certainty)},
          {"tie", IsTie(finding.ring_over_ps)},
          {"medium", finding.medium},
          {"server_hosts", finding.server_hosts},
          {"transports_differ", finding.transports_differ},
          {"sentence", finding.sentence},
          {"ring_over_ps", JsonOf(finding.ring_over_ps)}};
}

json JsonOf(const Claim& claim) {
  return {{"claim", claim.claim},
          {"place", claim.place},
          {"outcome", OutcomeName(claim.outcome)},
          {"numbers", claim.numbers}};
}

json JsonOf(const BaselineComparison& pair) {
  return {{"place", pair.place},
          {"compared", pair.compared},
          {"baseline", pair.baseline},
          {"certainty", CertaintyName(pair.certainty)},
          {"tie", IsTie(pair.over_baseline)},
          {"transports_differ", pair.transports_differ},
          {"over_baseline", JsonOf(pair.over_baseline)}};
}

json JsonOf(const CarrierComparison& comparison) {
  return {
      {"change", comparison.change},           {"place", comparison.place},
      {"strategy", comparison.strategy},       {"certainty", CertaintyName(comparison.certainty)},
      {"tie", IsTie(comparison.over_default)}, {"over_default", JsonOf(comparison.over_default)}};
}

json JsonOf(const StudyVerdict& verdict) {
  return {{"winner", verdict.winner},
          {"certainty", CertaintyName(verdict.certainty)},
          {"sentence", verdict.sentence},
          {"details", verdict.details},
          {"caveats", verdict.caveats}};
}

json JsonOf(const StudyMethod& method) {
  return {{"interval", method.interval},   {"confidence", method.confidence},
          {"resamples", method.resamples}, {"minimum_runs", method.minimum_runs},
          {"outliers", method.outliers},   {"warmup", method.warmup},
          {"fidelity", method.fidelity},   {"dilation", method.dilation},
          {"warnings", method.warnings}};
}

json JsonOf(const DilationRow& row) {
  return {{"factor", row.factor},
          {"asked", row.asked},
          {"cores", OrNull(row.cores)},
          {"hosts", OrNull(row.hosts)},
          {"equivalent_cores_per_host", OrNull(row.equivalent_cores_per_host)},
          {"runs", row.runs},
          {"limited", row.limited},
          {"train_seconds", row.train_seconds},
          {"wall_seconds", row.wall_seconds}};
}

json JsonOf(const StudyEnvironment& environment) {
  return {{"values", environment.values}, {"runs", environment.runs}};
}

json JsonOf(const FailedRun& run) {
  return {{"directory", run.directory}, {"label", run.label}, {"status", run.status},
          {"error", run.error},         {"kind", run.kind},   {"last_words", run.last_words}};
}

json JsonOf(const RunIncident& incident) {
  return {{"directory", incident.directory},
          {"label", incident.label},
          {"text", incident.text},
          {"last_words", incident.last_words}};
}

json JsonOf(const BundleProblem& problem) {
  return {{"directory", problem.directory}, {"cause", problem.cause}, {"damaged", problem.damaged}};
}

template <typename T>
json ListOf(const std::vector<T>& items) {
  json list = json::array();
  for (const T& item : items) list.push_back(JsonOf(item));
  return list;
}

// Directory names can hold any bytes. JSON must be UTF-8, and dumping other bytes would throw.
json InUtf8(const json& report) {
  return json::parse(report.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace

json JsonOf(const Comparison& comparison) {
  return {{"paired", comparison.paired},
          {"runs", comparison.runs},
          {"ratio", OrNull(comparison.ratio)},
          {"interval", comparison.interval ? JsonOf(*comparison.interval) : json(nullptr)},
          {"p_greater", OrNull(comparison.p_greater)}};
}

json RenderJson(const StudyTable& table) {
  return InUtf8(
      {{"schema", kReportSchema},
       {"name", table.name},
       {"varied", table.varied_keys},
       {"constants", table.constants},
       {"demo_page", table.demo_page.empty() ? json() : json(table.demo_page)},
       {"mixes_transports", MixesTransports(table)},
       {"verdict", JsonOf(table.verdict)},
       {"findings", ListOf(table.findings)},
       {"claims", ListOf(table.claims)},
       {"pairs", ListOf(table.pairs)},
       {"carriers", ListOf(table.carriers)},
       {"target", {{"accuracy", OrNull(table.target.accuracy)}, {"origin", table.target.origin}}},
       {"method", JsonOf(table.method)},
       {"dilation",
        {{"rows", ListOf(table.dilation.rows)},
         {"scaled", table.dilation.scaled},
         {"not_scaled", table.dilation.not_scaled}}},
       {"cells", ListOf(table.cells)},
       {"scaling", ListOf(table.scaling)},
       {"environments", ListOf(table.environments)},
       {"environment_differences", table.environment_differences},
       {"failed", ListOf(table.failed)},
       {"incidents", ListOf(table.incidents)},
       {"problems", ListOf(table.problems)}});
}

}  // namespace ringside
