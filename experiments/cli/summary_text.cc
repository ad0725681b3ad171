#include "ringside/experiments/cli/summary_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ringside/experiments/job/fidelity/fidelity_json.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/text/printable.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

using nlohmann::json;

class Lines {
 public:
  explicit Lines(const json& summary) : summary_(summary) {}

  void AddNumber(const char* label, const char* pointer, const char* unit, int digits) {
    const json* value = Find(pointer);
    if (value != nullptr) {
      Add(label, fmt::format("{:.{}f}{}", value->get<double>(), digits, unit));
    }
  }
  void AddBytes(const char* label, const char* pointer) {
    const json* value = Find(pointer);
    if (value != nullptr && value->get<double>() > 0) {
      Add(label, FormatBytes(value->get<double>()));
    }
  }
  void AddPercent(const char* label, const char* pointer) {
    const json* value = Find(pointer);
    if (value != nullptr) Add(label, fmt::format("{:.2f} %", value->get<double>() * 100));
  }
  /// A line for each number of an object.
  void AddMetrics(const std::string& prefix, const char* key) {
    const auto metrics = summary_.find(key);
    if (metrics == summary_.end() || !metrics->is_object()) return;
    for (const auto& [name, value] : metrics->items()) {
      if (value.is_number()) {
        Add((prefix + Printable(name)).c_str(), fmt::format("{:.4f}", value.get<double>()));
      }
    }
  }
  std::string Take() { return std::move(out_); }

 private:
  const json* Find(const char* pointer) const {
    const json::json_pointer at(pointer);
    if (!summary_.contains(at) || !summary_[at].is_number()) return nullptr;
    return &summary_[at];
  }
  void Add(const char* label, const std::string& value) {
    out_ += fmt::format("  {:<24}{}\n", label, value);
  }

  const json& summary_;
  std::string out_;
};

/// A line for a run on an emulated network.
std::string FidelityLine(const json& summary) {
  const std::string text = FidelityText(summary.value("fidelity", json()));
  return text.empty() ? "" : fmt::format("  {}\n", Printable(text));
}

/// A line for a run whose counted steps still contain warm-up.
std::string WarmupNote(const json& summary) {
  const json missing = summary.value("warmup_short", json());
  if (!missing.is_boolean() || !missing.get<bool>()) return "";
  const json detected = summary.value("warmup_detected", json());
  const std::string judgement =
      detected.is_number()
          ? fmt::format("by MSER-5 the first {} steps belong to it", detected.get<std::int64_t>())
          : "by MSER-5 the step times had not settled by half of the run";
  return fmt::format(
      "  note: the counted steps still contain warm-up: {}, and --warmup-steps left "
      "out {}\n",
      judgement, summary.at("warmup_steps").get<std::int64_t>());
}

/// A line for each worker that the run went on without.
std::string LostWorkerLines(const json& summary) {
  std::string lines;
  for (const json& lost : summary.value("lost_workers", json::array())) {
    lines += fmt::format("  lost worker {}, last heard of before step {}: {}\n",
                         lost.at("worker").get<int>(), lost.at("step").get<std::int64_t>(),
                         Printable(lost.at("reason").get<std::string>()));
  }
  return lines;
}

}  // namespace

std::string SummaryText(const JobOutcome& outcome, const Painter& painter) {
  const bool done = outcome.status == JobStatus::kDone;
  const std::string status = Printable(StatusText(JobStatusName(outcome.status), outcome.error));
  std::string out = done ? painter.Good(status) : painter.Bad(status);
  out += '\n';
  if (!outcome.summary.is_object()) return out;
  Lines lines(outcome.summary);
  lines.AddNumber("steps", "/steps", "", 0);
  lines.AddNumber("step time (median)", "/step_ms/median", " ms", 2);
  lines.AddNumber("exposed communication", "/exposed_comm_ms", " ms", 2);
  lines.AddNumber("samples per second", "/samples_per_s", "", 0);
  lines.AddBytes("sent by each worker", "/bytes_sent_per_worker");
  lines.AddNumber("bound of the step", "/bound_ms", " ms", 2);
  lines.AddNumber("achievable step", "/achievable_ms", " ms", 2);
  lines.AddNumber("staleness (mean)", "/staleness/mean", " versions", 2);
  lines.AddNumber("loss", "/final_loss", "", 4);
  lines.AddPercent("test accuracy", "/eval_accuracy");
  lines.AddMetrics("test ", "eval_metrics");
  return out + lines.Take() + LostWorkerLines(outcome.summary) + FidelityLine(outcome.summary) +
         WarmupNote(outcome.summary);
}

}  // namespace ringside
