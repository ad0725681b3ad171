#include "ringside/experiments/report/runs/study_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

#include "ringside/experiments/report/runs/whole_number.h"
#include "ringside/experiments/statistics/step_statistics.h"
#include "ringside/experiments/statistics/warmup.h"

namespace ringside {
namespace {

using nlohmann::json;

constexpr char kStepRecords[] = "step records";

std::string TextAt(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// Quotes any name for a POSIX shell.
std::string ShellQuoted(const std::string& text) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("/._-+=:,@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

void AddAchievable(const json& summary, StudyRun& run) {
  run.achievable_ms = NumberAt(summary, "/achievable_ms");
  run.achievable_ratio = NumberAt(summary, "/achievable_ratio");
  if (!run.achievable_ms) return;
  AchievableStep& step = run.achievable.emplace();
  step.step_ms = *run.achievable_ms;
  for (const AchievablePart& part : kAchievableParts) {
    const std::string pointer = fmt::format("/achievable/{}", part.name);
    step.*part.value = NumberAt(summary, pointer.c_str()).value_or(0);
  }
}

void AddTimes(const json& summary, StudyRun& run) {
  run.step_ms = NumberAt(summary, "/step_ms/median");
  run.step_ms_p10 = NumberAt(summary, "/step_ms/p10");
  run.step_ms_p90 = NumberAt(summary, "/step_ms/p90");
  run.compute_ms = NumberAt(summary, "/compute_ms");
  run.exposed_comm_ms = NumberAt(summary, "/exposed_comm_ms");
  run.submit_ms = NumberAt(summary, "/submit_ms");
  run.data_ms = NumberAt(summary, "/data_ms");
  run.codec_ms = NumberAt(summary, "/codec_ms");
  run.samples_per_s = NumberAt(summary, "/samples_per_s");
  run.bytes_per_step = NumberAt(summary, "/bytes_sent_per_worker_per_step");
  run.bound_bytes_per_step = NumberAt(summary, "/bound_bytes_sent_per_worker_per_step");
  run.bound_comm_ms = NumberAt(summary, "/bound_comm_ms");
  run.bound_missing = TextAt(summary, "bound_missing");
  AddAchievable(summary, run);
  run.straggler_ms = NumberAt(summary, "/straggler_ms");
  run.buckets = NumberAt(summary, "/buckets");
  run.bound_ms = NumberAt(summary, "/bound_ms");
  run.bound_ratio = NumberAt(summary, "/bound_ratio");
  run.wall_seconds = NumberAt(summary, "/wall_seconds");
  run.train_seconds = NumberAt(summary, "/train_seconds");
  run.startup_seconds = NumberAt(summary, "/startup_seconds");
}

void AddQuality(const json& summary, StudyRun& run) {
  run.loss = NumberAt(summary, "/final_loss");
  run.eval_loss = NumberAt(summary, "/eval_loss");
  run.accuracy = NumberAt(summary, "/eval_accuracy");
  if (const auto metrics = summary.find("eval_metrics");
      metrics != summary.end() && metrics->is_object()) {
    for (const auto& [name, value] : metrics->items()) {
      if (value.is_number()) run.metrics[name] = value.get<double>();
    }
  }
  run.staleness_mean = NumberAt(summary, "/staleness/mean");
  const json::json_pointer histogram("/staleness/histogram");
  if (!summary.contains(histogram) || !summary[histogram].is_object()) return;
  for (const auto& [versions, updates] : summary[histogram].items()) {
    std::int64_t behind = 0;
    const char* end = versions.data() + versions.size();
    const bool number = std::from_chars(versions.data(), end, behind).ec == std::errc();
    if (!number || !updates.is_number()) continue;
    run.staleness[behind] = WholeNumber<std::int64_t>(updates.get<double>());
  }
}

/// Samples of all workers that this run itself trained. The last batch of an epoch may be smaller
/// and counts as a whole one.
std::optional<double> SamplesTrained(const RunResult& result) {
  const std::optional<double> steps = NumberAt(result.summary, "/steps");
  if (!steps) return std::nullopt;
  const double first = NumberAt(result.summary, "/first_step").value_or(0);
  const double samples = (*steps - first) * static_cast<double>(result.spec.ResolvedGlobalBatch());
  if (samples <= 0) return std::nullopt;
  return samples;
}

/// Bytes in both directions over the NICs of all dedicated servers. With dedicated servers, a
/// worker's sockets lead only to servers, so that each of its bytes crosses a server's NIC too.
/// Absent when only some of the servers are dedicated.
std::optional<double> ServerNicBytes(const json& summary, double worker_bytes) {
  const double dedicated = NumberAt(summary, "/dedicated_servers").value_or(0);
  if (dedicated == 0) return 0;
  const bool colocated = summary.value("colocated", json(false)) == json(true);
  if (colocated) return std::nullopt;
  return worker_bytes;
}

void AddCosts(const RunResult& result, StudyRun& run) {
  const json& summary = result.summary;
  run.cpu_seconds_workers = NumberAt(summary, "/cpu_seconds/workers");
  run.cpu_seconds_servers = NumberAt(summary, "/cpu_seconds/servers");
  run.peak_rss_bytes = NumberAt(summary, "/peak_rss_bytes");
  const std::optional<double> samples = SamplesTrained(result);
  if (!samples) return;
  if (run.cpu_seconds_workers) {
    run.core_seconds_per_sample =
        (*run.cpu_seconds_workers + run.cpu_seconds_servers.value_or(0)) / *samples;
  }
  const std::optional<double> sent = NumberAt(summary, "/bytes_sent_per_worker");
  const std::optional<double> received = NumberAt(summary, "/bytes_received_per_worker");
  if (!sent || !received) return;
  const double worker_bytes = (*sent + *received) * result.spec.workers;
  const std::optional<double> server_bytes = ServerNicBytes(summary, worker_bytes);
  if (!server_bytes) return;
  run.nic_bytes_per_sample = (worker_bytes + *server_bytes) / *samples;
  run.nic_bytes_per_sample_servers = *server_bytes / *samples;
}

void AddCores(const RunResult& result, StudyRun& run) {
  auto cores = NumberAt(result.environment, "/usable_cores");
  if (!cores) cores = NumberAt(result.environment, "/cores");
  if (cores) run.cores = WholeNumber<int>(*cores);
  run.cores_busy = NumberAt(result.summary, "/machine_busy");
  const double core_seconds = cores.value_or(0) * run.wall_seconds.value_or(0);
  if (run.cores_busy || core_seconds <= 0 || !run.cpu_seconds_workers) return;
  const double cpu_seconds = *run.cpu_seconds_workers + run.cpu_seconds_servers.value_or(0);
  run.cores_busy = std::min(1.0, cpu_seconds / core_seconds);
}

void AddWarmup(const RunResult& result, StudyRun& run) {
  run.warmup_steps = result.spec.warmup_steps;
  std::vector<double> step_ms = result.metrics.step_ms;
  step_ms.resize(TimedSteps(step_ms.size(), run.warmup_steps).end);
  const auto declared = static_cast<std::size_t>(std::max<std::int64_t>(run.warmup_steps, 0));
  const WarmupVerdict verdict = JudgeWarmup(step_ms, declared);
  if (verdict.detected) run.warmup_detected = static_cast<std::int64_t>(*verdict.detected);
  run.warmup_short = verdict.too_short.value_or(false);
}

/// "2" for a host, "uplink 1" for a rack's.
std::string LinkName(const json& link) {
  if (const auto host = link.find("host"); host != link.end()) {
    return host->is_string() ? host->get<std::string>() : host->dump();
  }
  const auto uplink = link.find("uplink");
  return uplink == link.end() ? "" : "uplink " + uplink->dump();
}

std::optional<bool> JudgementOf(const json& link) {
  const auto ok = link.find("ok");
  if (ok == link.end() || !ok->is_boolean()) return {};
  return ok->get<bool>();
}

void AddNetwork(const json& network, StudyRun& run) {
  if (!network.is_object()) return;
  run.link_ok = JudgementOf(network);
  const auto links = network.find("links");
  if (links == network.end() || !links->is_array()) return;
  for (const json& link : *links) {
    if (!link.is_object()) continue;
    run.links.push_back({LinkName(link), NumberAt(link, "/rate_bits_per_s"),
                         NumberAt(link, "/expected_bytes_per_s"),
                         NumberAt(link, "/sent_bytes_per_s"),
                         NumberAt(link, "/received_bytes_per_s"), JudgementOf(link)});
  }
}

/// Of a run on an emulated network whose summary has no record.
RunFidelity NeverJudged() {
  RunFidelity fidelity;
  fidelity.verdict = FidelityVerdict::kNotJudged;
  fidelity.not_judged = "its summary has no record of it";
  return fidelity;
}

void AddFidelity(const json& summary, StudyRun& run) {
  run.dilation = ReadDilation(summary);
  run.fidelity = ReadFidelity(summary);
  const auto network = summary.find("network");
  const bool emulated = network != summary.end() && network->is_string();
  if (!run.fidelity && emulated) run.fidelity = NeverJudged();
  // Summaries of older versions do not count the links.
  if (run.link_ok == false && run.fidelity && run.fidelity->verdict != FidelityVerdict::kLimited) {
    run.fidelity->verdict = FidelityVerdict::kLimited;
    run.fidelity->limited_by.emplace_back("links: one or more were not as asked");
  }
  if (run.dilation) {
    run.dilation_factor = run.dilation->factor;
    run.equivalent_cores_per_host = run.dilation->equivalent_cores_per_host;
    run.wall_step_ms = run.dilation->wall_step_ms;
  }
  if (run.fidelity) run.least_idle_share = run.fidelity->least_idle_share;
}

/// The steps whose times enter the run's medians.
std::optional<std::int64_t> TimedStepsOf(const json& summary, std::int64_t warmup_steps) {
  const std::optional<double> counted = NumberAt(summary, "/counted_steps");
  if (!counted || *counted < 0) return std::nullopt;
  const auto steps = static_cast<std::size_t>(WholeNumber<std::int64_t>(*counted)) +
                     static_cast<std::size_t>(std::max<std::int64_t>(warmup_steps, 0));
  const StepRange timed = TimedSteps(steps, warmup_steps);
  return static_cast<std::int64_t>(timed.end - timed.begin);
}

void AddCriticalPath(const json& summary, StudyRun& run) {
  const auto path = summary.find("critical_path");
  if (path == summary.end() || !path->is_object()) return;
  // The path covers other steps than the run's times, so the two would not add up.
  const double steps = NumberAt(*path, "/steps").value_or(0);
  const bool more = run.timed_steps && steps > static_cast<double>(*run.timed_steps);
  if (more && TextAt(*path, "source") == kStepRecords) return;
  CriticalPath parts;
  bool any = false;
  for (const CriticalPart& part : kCriticalParts) {
    const std::optional<double> value = NumberAt(*path, fmt::format("/{}", part.name).c_str());
    parts.*part.value = value;
    any = any || value.has_value();
  }
  // A path without parts has no information. Readers then use the step's own numbers.
  if (any) run.critical_path = parts;
}

void AddCurve(const RunResult& result, const std::optional<double>& target, StudyRun& run) {
  std::vector<CurvePoint> points = result.metrics.evaluations;
  const auto batch = static_cast<double>(result.spec.ResolvedGlobalBatch());
  for (CurvePoint& point : points) point.samples = static_cast<double>(point.step) * batch;
  const auto reached = std::ranges::find_if(points, [&](const CurvePoint& point) {
    return target && point.accuracy && *point.accuracy >= *target;
  });
  if (reached != points.end()) {
    run.seconds_to_target = reached->train_seconds;
    run.epochs_to_target = reached->epoch;
    run.samples_to_target = reached->samples;
  }
  if (points.size() <= kMaxCurvePoints) {
    run.curve = std::move(points);
    return;
  }
  for (std::size_t i = 0; i < kMaxCurvePoints; ++i) {
    run.curve.push_back(points[i * (points.size() - 1) / (kMaxCurvePoints - 1)]);
  }
}

// A summary of an older version has no such list.
void AddLostWorkers(const json& summary, StudyRun& run) {
  const auto lost = summary.find("lost_workers");
  if (lost == summary.end() || !lost->is_array()) return;
  for (const json& worker : *lost) {
    const auto rank = NumberAt(worker, "/worker");
    if (rank) run.lost_workers.push_back(static_cast<std::int64_t>(*rank));
  }
}

}  // namespace

std::optional<double> NumberAt(const json& object, const char* pointer) {
  const json::json_pointer at(pointer);
  if (!object.contains(at) || !object[at].is_number()) return std::nullopt;
  return object[at].get<double>();
}

StudyRun MakeStudyRun(const RunResult& result, const std::optional<double>& target_accuracy) {
  const json& summary = result.summary;
  StudyRun run;
  run.run_id = TextAt(summary, "run_id");
  run.directory = result.directory;
  run.command = fmt::format("ringside train --from {}", ShellQuoted(result.directory));
  run.seed = result.spec.seed;
  run.repetition = result.spec.repetition;
  run.status = TextAt(summary, "status");
  run.error = TextAt(summary, "error");
  run.started = TextAt(summary, "started");
  run.timed_steps = TimedStepsOf(summary, result.spec.warmup_steps);
  AddTimes(summary, run);
  AddQuality(summary, run);
  AddCosts(result, run);
  AddCores(result, run);
  AddWarmup(result, run);
  AddNetwork(result.network, run);
  AddFidelity(summary, run);
  AddCriticalPath(summary, run);
  AddCurve(result, target_accuracy, run);
  if (const auto notes = summary.find("notes"); notes != summary.end() && notes->is_array()) {
    for (const json& note : *notes) {
      if (note.is_string()) run.notes.push_back(note.get<std::string>());
    }
  }
  AddLostWorkers(summary, run);
  return run;
}

}  // namespace ringside
