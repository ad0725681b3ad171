#include "ringside/experiments/job/summary/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "ringside/experiments/job/summary/achievable.h"
#include "ringside/experiments/job/summary/dilation_record.h"
#include "ringside/experiments/job/summary/step_bound.h"
#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/spec/transport.h"
#include "ringside/experiments/statistics/step_statistics.h"
#include "ringside/experiments/statistics/warmup.h"
#include "ringside/experiments/system/environment/build_info.h"
#include "ringside/experiments/system/files/files.h"

namespace ringside {
namespace {

using nlohmann::json;

json OrNull(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json();
}

/// The sum of one key over reports; absent when a report lacks it.
std::optional<double> Sum(const std::vector<json>& reports, const char* key) {
  double sum = 0;
  for (const json& report : reports) {
    if (!report.is_object() || !report.contains(key)) return std::nullopt;
    sum += report[key].get<double>();
  }
  if (reports.empty()) return std::nullopt;
  return sum;
}

std::optional<double> Mean(const std::vector<json>& reports, const char* key) {
  const std::optional<double> sum = Sum(reports, key);
  if (!sum) return std::nullopt;
  return *sum / static_cast<double>(reports.size());
}

bool IsLost(const RunRecord& run, std::size_t rank) {
  return std::ranges::find(run.lost_workers, static_cast<int>(rank), &LostWorker::index) !=
         run.lost_workers.end();
}

/// The steps of each worker that the job has not lost.
std::vector<std::vector<StepRecord>> StepsOfLiving(const RunRecord& run) {
  std::vector<std::vector<StepRecord>> ranks;
  for (std::size_t rank = 0; rank < run.workers.size(); ++rank) {
    if (!IsLost(run, rank)) ranks.push_back(run.workers[rank].steps);
  }
  return ranks;
}

json LostWorkersJson(const RunRecord& run) {
  json lost = json::array();
  for (const LostWorker& worker : run.lost_workers) {
    lost.push_back({{"worker", worker.index},
                    {"step", worker.step},
                    {"reason", worker.reason},
                    {"last_words", worker.last_words}});
  }
  return lost;
}

/// The spec of a run, with the slowest measured link where the user has declared none. Where
/// processes share a host, some of their bytes use no link. The formulas do not know which, so such
/// a run has no bound.
RunSpec WithLinkInUse(const RunRecord& run) {
  RunSpec spec = run.spec;
  const auto processes = static_cast<std::size_t>(spec.workers + LayoutServers(spec).dedicated);
  if (spec.link_bits_per_s <= 0 && run.measured_links.size() == processes) {
    spec.link_bits_per_s = BitsPerSecondOfGoodput(std::ranges::min(run.measured_links));
  }
  return spec;
}

class SummaryMaker {
 public:
  explicit SummaryMaker(const RunRecord& run) : run_(run), spec_(WithLinkInUse(run)) {
    for (std::size_t rank = 0; rank < run.workers.size(); ++rank) {
      if (!IsLost(run, rank)) workers_.push_back(run.workers[rank].report);
      hosts_.insert(run.workers[rank].host);
    }
    statistics_ = Summarize(StepsOfLiving(run), spec_.warmup_steps);
    for (const json& report : workers_) {
      if (report.is_object() && report["server"].is_object()) servers_.push_back(report["server"]);
    }
    servers_.insert(servers_.end(), run.server_reports.begin(), run.server_reports.end());
    if (!workers_.empty() && workers_.front().is_object()) first_ = workers_.front();
  }

  json Make() {
    AddIdentity();
    AddTimes();
    AddBytes();
    AddBound();
    AddStaleness();
    AddQuality();
    AddResources();
    return summary_;
  }

 private:
  /// A value of rank 0's report; null without a report.
  json FromFirst(const char* key) const {
    return first_.is_object() && first_.contains(key) ? first_[key] : json();
  }

  /// Steps that this run itself has done; a resumed run began at a later step.
  double StepsRun() const {
    if (!first_.is_object()) return 0;
    return first_["steps_done"].get<double>() - first_["first_step"].get<double>();
  }

  /// The transport; null when nothing travels.
  json Transport() const {
    const std::string transport = TransportOf(spec_, static_cast<int>(hosts_.size())).name;
    return transport.empty() ? json() : json(transport);
  }

  void AddIdentity() {
    const StrategyEntry* entry = spec_.catalog().FindStrategy(spec_.strategy);
    const BuildInfo build = ThisBuild();
    const ServerLayout layout = LayoutServers(spec_);
    summary_ = {
        {"schema", "ringside.summary/1"},
        {"run_id", RunId(run_.spec)},
        {"strategy", spec_.strategy},
        {"family", entry == nullptr ? json() : json(FamilyName(entry->traits.family))},
        {"model", spec_.model},
        {"program", spec_.program.empty() ? json() : json(spec_.program)},
        {"dataset", spec_.data},
        {"workers", spec_.workers},
        {"lost_workers", LostWorkersJson(run_)},
        {"servers", layout.total()},
        {"dedicated_servers", layout.dedicated},
        {"colocated", layout.colocated > 0},
        {"transport", Transport()},
        {"codec", CodecText(spec_.options.codec)},
        {"straggler", StragglerText(spec_.straggler)},
        {"emulated_straggler", spec_.straggler != StragglerOptions{}},
        {"hosts", hosts_.size()},
        {"network", spec_.network ? json(NetworkText(*spec_.network)) : json()},
        {"dilation", DilationRecord(spec_, {.factor = run_.dilation,
                                            .cores = run_.cores,
                                            .step_ms = statistics_.step_ms_median})},
        {"link_ok", run_.network.is_object() ? run_.network.at("ok") : json()},
        {"fidelity", run_.fidelity},
        {"address", run_.address},
        {"tls", run_.tls},
        {"link_bits_per_s", spec_.link_bits_per_s > 0 ? json(spec_.link_bits_per_s) : json()},
        {"link_latency_s", spec_.link_latency_s},
        {"measured_links", run_.measured_links.empty() ? json() : json(run_.measured_links)},
        {"parameters", FromFirst("parameters")},
        {"buckets", FromFirst("buckets")},
        {"notes", FromFirst("notes")},
        {"warnings", run_.warnings},
        {"facts", FromFirst("facts")},
        {"seed", spec_.seed},
        {"repetition", spec_.repetition},
        {"global_batch", spec_.ResolvedGlobalBatch()},
        {"status", run_.status},
        {"error", run_.error.empty() ? json() : json(run_.error)},
        {"started", run_.started},
        {"ended", run_.ended},
        {"wall_seconds", run_.wall_seconds},
        {"startup_seconds", OrNull(run_.startup_seconds)},
        {"launcher", run_.launcher},
        {"version", build.version},
        {"git", build.git},
    };
  }

  void AddTimes() {
    summary_["steps"] = first_.is_object() ? first_["steps_done"] : json(CommonSteps());
    summary_["first_step"] = FromFirst("first_step");
    summary_["total_steps"] = FromFirst("total_steps");
    summary_["counted_steps"] = statistics_.steps;
    AddWarmup();
    summary_["epochs"] = FromFirst("epochs");
    summary_["step_ms"] = {{"median", OrNull(statistics_.step_ms_median)},
                           {"p10", OrNull(statistics_.step_ms_p10)},
                           {"p90", OrNull(statistics_.step_ms_p90)}};
    summary_["compute_ms"] = OrNull(statistics_.compute_ms);
    summary_["submit_ms"] = OrNull(statistics_.submit_ms);
    summary_["forward_ms"] = OrNull(statistics_.forward_ms);
    summary_["exposed_comm_ms"] = OrNull(statistics_.exposed_comm_ms);
    summary_["data_ms"] = OrNull(statistics_.data_ms);
    summary_["codec_ms"] = OrNull(statistics_.codec_ms);
    summary_["critical_path"] = CriticalPathJson(run_.critical_path, spec_.warmup_steps);
    summary_["straggler_ms"] = OrNull(statistics_.straggler_ms);
    summary_["samples_per_s"] = OrNull(statistics_.samples_per_s);
    summary_["train_seconds"] = FromFirst("train_seconds");
    summary_["emulated_compute"] = EmulatedComputeMs() > 0;
    summary_["emulated_compute_ms"] = EmulatedComputeMs() > 0 ? json(EmulatedComputeMs()) : json();
  }

  /// Judges by the step times of rank 0, as a study does.
  void AddWarmup() {
    std::vector<double> step_ms;
    if (!run_.workers.empty()) {
      for (const StepRecord& step : run_.workers.front().steps) step_ms.push_back(step.step_ms);
    }
    step_ms.resize(TimedSteps(step_ms.size(), spec_.warmup_steps).end);
    const auto declared = static_cast<std::size_t>(std::max<std::int64_t>(spec_.warmup_steps, 0));
    const WarmupVerdict verdict = JudgeWarmup(step_ms, declared);
    summary_["warmup_steps"] = spec_.warmup_steps;
    summary_["warmup_detected"] = verdict.detected ? json(*verdict.detected) : json();
    summary_["warmup_short"] = verdict.too_short ? json(*verdict.too_short) : json();
  }

  /// One past the last step that every rank recorded, for runs without a report.
  std::int64_t CommonSteps() const {
    std::int64_t steps = -1;
    for (const WorkerRecord& worker : run_.workers) {
      const std::int64_t own = worker.steps.empty() ? 0 : worker.steps.back().step + 1;
      steps = steps < 0 ? own : std::min(steps, own);
    }
    return std::max<std::int64_t>(steps, 0);
  }

  double EmulatedComputeMs() const {
    return first_.is_object() ? first_["emulated_compute_ms"].get<double>() : 0;
  }

  void AddPerStep(const char* key, const std::optional<double>& total) {
    summary_[key] = OrNull(total);
    summary_[std::string(key) + "_per_step"] =
        total && StepsRun() > 0 ? json(*total / StepsRun()) : json();
  }

  /// By rank; null for a worker without a report.
  json SentByWorker() const {
    json sent = json::array();
    for (const WorkerRecord& worker : run_.workers) {
      const json& report = worker.report;
      sent.push_back(report.is_object() ? report.value("socket_bytes_sent", json()) : json());
    }
    return sent;
  }

  void AddBytes() {
    AddPerStep("bytes_sent_per_worker", Mean(workers_, "socket_bytes_sent"));
    AddPerStep("bytes_received_per_worker", Mean(workers_, "socket_bytes_received"));
    summary_["bytes_sent_by_worker"] = SentByWorker();
    AddPerStep("payload_bytes_sent_per_worker", Mean(workers_, "payload_bytes_sent"));
    AddPerStep("payload_bytes_received_per_worker", Mean(workers_, "payload_bytes_received"));
    AddPerStep("bytes_per_server", Mean(servers_, "payload_bytes_received"));
  }

  void AddBound() {
    for (const char* key :
         {"bound_ms", "bound_comm_ms", "bound_ratio", "bound_missing", "achievable",
          "achievable_ms", "achievable_ratio", "bound_bytes_sent_per_worker_per_step",
          "bound_bytes_received_per_worker_per_step", "bound_bytes_per_server_per_step"}) {
      summary_[key] = nullptr;
    }
    if (!first_.is_object()) return;
    const std::optional<StepBound> bound =
        BoundOf(spec_, static_cast<int>(hosts_.size()), first_["gradient_wire_bytes"].get<double>(),
                first_["parameter_wire_bytes"].get<double>());
    if (!bound) return;
    summary_["bound_bytes_sent_per_worker_per_step"] = bound->cost.bytes_sent_per_worker;
    summary_["bound_bytes_received_per_worker_per_step"] = bound->cost.bytes_received_per_worker;
    summary_["bound_bytes_per_server_per_step"] = bound->cost.bytes_per_server;
    if (!bound->missing.empty()) summary_["bound_missing"] = bound->missing;
    if (!bound->comm_ms) return;
    AddBoundOfTime(*bound->comm_ms);
    AddAchievable(*bound);
  }

  double BoundComputeMs() const {
    return EmulatedComputeMs() > 0 ? EmulatedComputeMs() : statistics_.compute_ms.value_or(0);
  }

  /// The share of the forward pass in the measured compute. Stragglers and busy cores slow both
  /// passes.
  double ForwardShare() const {
    const double compute_ms = statistics_.compute_ms.value_or(0);
    return compute_ms > 0 ? std::min(1.0, statistics_.forward_ms.value_or(0) / compute_ms) : 0;
  }

  /// A figure that the strategy set; 0 when it set none.
  double Fact(const char* name) const {
    const auto facts = first_.find("facts");
    return facts == first_.end() ? 0 : facts->value(name, 0.0);
  }

  AchievableInput InputOfAchievable() const {
    AchievableInput input;
    input.compute_ms = BoundComputeMs();
    input.forward_ms = ForwardShare() * input.compute_ms;
    input.gradient_bytes = first_["gradient_wire_bytes"].get<double>();
    input.parameter_bytes = first_["parameter_wire_bytes"].get<double>();
    input.bucket_shares = first_.value("bucket_elements", std::vector<double>());
    const double elements =
        std::accumulate(input.bucket_shares.begin(), input.bucket_shares.end(), 0.0);
    for (double& share : input.bucket_shares) share /= std::max(elements, 1.0);
    if (const auto ready = first_.find("ready_shares");
        ready != first_.end() && !ready->is_null()) {
      input.ready_shares = ready->get<std::vector<double>>();
    }
    if (const double bytes = Fact("busiest_link_bytes"); bytes > 0) {
      input.busiest_link_bytes = bytes;
    }
    input.awaited_pushes = std::max(1, static_cast<int>(Fact("awaited_pushes")));
    if (Fact("slice_limit_bytes") > 0) {
      input.slice_share = Fact("slice_bytes") / (sizeof(float) * std::max(elements, 1.0));
    }
    return input;
  }

  void AddAchievable(const StepBound& bound) {
    const std::optional<Achievable> achievable = AchievableOf(spec_, bound, InputOfAchievable());
    if (!achievable) return;
    summary_["achievable"] = {
        {"step_ms", achievable->step_ms},           {"compute_ms", achievable->compute_ms},
        {"phases_ms", achievable->phases_ms},       {"uneven_ms", achievable->uneven_ms},
        {"readiness_ms", achievable->readiness_ms}, {"tail_ms", achievable->tail_ms}};
    summary_["achievable_ms"] = achievable->step_ms;
    const std::optional<double> step_ms = StepAgainstBound();
    if (step_ms) summary_["achievable_ratio"] = *step_ms / achievable->step_ms;
  }

  void AddBoundOfTime(double comm_ms) {
    const double bound_ms = std::max(comm_ms, BoundComputeMs());
    summary_["bound_comm_ms"] = comm_ms;
    summary_["bound_ms"] = bound_ms;
    const std::optional<double> step_ms = StepAgainstBound();
    if (step_ms && bound_ms > 0) summary_["bound_ratio"] = *step_ms / bound_ms;
  }

  /// The step time that is compared with the bound: the median, or the mean if the strategy sums
  /// every H steps. Most steps of such a strategy do not communicate, while the bound spreads the
  /// sum over all steps.
  std::optional<double> StepAgainstBound() const {
    const std::int64_t period = StepsPerSum(spec_);
    if (period == 1) return statistics_.step_ms_median;
    return MeanStepMs(StepsOfLiving(run_), spec_.warmup_steps, period);
  }

  /// The staleness counted by the servers. Without servers it is the staleness counted by the
  /// workers' recorders.
  std::map<std::int64_t, std::int64_t> Staleness() const {
    std::map<std::int64_t, std::int64_t> histogram;
    for (const json& report : servers_.empty() ? workers_ : servers_) {
      if (!report.is_object()) continue;
      for (const auto& [versions, pushes] : report["staleness"].items()) {
        histogram[std::stoll(versions)] += pushes.get<std::int64_t>();
      }
    }
    return histogram;
  }

  void AddStaleness() {
    const auto histogram = Staleness();
    double sum = 0;
    double count = 0;
    json json_histogram = json::object();
    for (const auto& [versions, pushes] : histogram) {
      json_histogram[std::to_string(versions)] = pushes;
      sum += static_cast<double>(versions) * static_cast<double>(pushes);
      count += static_cast<double>(pushes);
    }
    summary_["staleness"] = {{"histogram", json_histogram},
                             {"mean", count > 0 ? json(sum / count) : json()},
                             {"max", histogram.empty() ? json() : json(histogram.rbegin()->first)}};
    const std::optional<double> reconnects = Sum(workers_, "reconnects");
    summary_["reconnects"] = reconnects ? json(static_cast<std::int64_t>(*reconnects)) : json();
    const std::optional<double> dropped = Sum(servers_, "dropped_pushes");
    summary_["dropped_pushes"] = dropped ? json(static_cast<std::int64_t>(*dropped)) : json();
  }

  void AddQuality() {
    summary_["final_loss"] = OrNull(statistics_.final_loss);
    summary_["eval_loss"] = run_.evaluation ? json(run_.evaluation->record.loss) : json();
    summary_["eval_accuracy"] = run_.evaluation ? OrNull(run_.evaluation->record.accuracy) : json();
    summary_["eval_metrics"] = run_.evaluation && !run_.evaluation->record.metrics.empty()
                                   ? json(run_.evaluation->record.metrics)
                                   : json();
    summary_["params_sha256"] = FromFirst("params_sha256");
  }

  void AddResources() {
    summary_["cpu_seconds"] = {{"workers", OrNull(Sum(workers_, "cpu_seconds"))},
                               {"servers", OrNull(Sum(run_.server_reports, "cpu_seconds"))}};
    summary_["machine_busy"] = FromFirst("machine_busy");
    std::vector<json> processes = workers_;
    processes.insert(processes.end(), run_.server_reports.begin(), run_.server_reports.end());
    const std::optional<double> peak = Sum(processes, "peak_rss_bytes");
    summary_["peak_rss_bytes"] = peak ? json(static_cast<std::int64_t>(*peak)) : json();
  }

  const RunRecord& run_;
  const RunSpec spec_;
  StepStatistics statistics_;
  std::vector<json> workers_;  // reports of workers not lost, by rank; null when none came
  std::vector<json> servers_;  // of co-located and dedicated servers
  std::set<std::string> hosts_;
  json first_;  // rank 0's report
  json summary_;
};

}  // namespace

json MakeSummary(const RunRecord& run) { return SummaryMaker(run).Make(); }

void WriteSummary(const std::string& bundle, const json& summary) {
  SyncFiles(bundle);
  // File names may contain any bytes, but JSON may not.
  WriteFileAtomically(bundle + "/" + kSummaryFile,
                      summary.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

std::optional<double> MedianStepMs(const RunRecord& run) {
  return Summarize(StepsOfLiving(run), run.spec.warmup_steps).step_ms_median;
}

std::optional<double> BenchStepMs(const json& report) {
  std::optional<double> shortest;
  if (!report.is_object()) return shortest;
  for (const json& size : report.value("sizes", json::array())) {
    const auto times_us = size.at("times_us").get<std::vector<double>>();
    const std::optional<double> median = Quantile(times_us, 0.5);
    if (median && (!shortest || *median / 1000 < *shortest)) shortest = *median / 1000;
  }
  return shortest;
}

json BenchSummary(const RunRecord& run) {
  json reports = json::array();
  for (const WorkerRecord& worker : run.workers) reports.push_back(worker.report);
  return {{"schema", "ringside.bench-job/1"},
          {"strategy", run.spec.strategy},
          {"status", run.status},
          {"error", run.error.empty() ? json() : json(run.error)},
          {"network", run.network},
          {"measured_links", run.measured_links.empty() ? json() : json(run.measured_links)},
          {"dilation", DilationRecord(run.spec, {.factor = run.dilation, .cores = run.cores})},
          {"fidelity", run.fidelity},
          {"workers", reports}};
}

}  // namespace ringside
