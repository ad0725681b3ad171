#include "ringside/experiments/report/runs/run_metrics.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ringside/experiments/report/runs/whole_number.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/text/json_depth.h"

namespace ringside {
namespace {

using nlohmann::json;

// Most lines are steps, of which one number is needed, so that parsing them is not worth it.
constexpr std::string_view kStepStart = R"({"kind":"step")";
constexpr std::string_view kStepTime = R"("step_ms":)";
constexpr std::string_view kEvaluation = R"("evaluation")";

void AddStep(std::string_view line, RunMetrics& metrics) {
  const std::size_t at = line.find(kStepTime);
  if (at == std::string_view::npos) return;
  double value = 0;
  const char* begin = line.data() + at + kStepTime.size();
  const auto [end, error] = std::from_chars(begin, line.data() + line.size(), value);
  if (error == std::errc() && std::isfinite(value)) metrics.step_ms.push_back(value);
}

std::optional<double> Number(const json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

void AddEvaluation(std::string_view text, RunMetrics& metrics) {
  if (IsTooDeepJson(text)) return;
  const json line = json::parse(text, nullptr, false);
  if (!line.is_object() || line.value("kind", json()) != "evaluation") return;
  CurvePoint point;
  point.step = WholeNumber<std::int64_t>(Number(line, "step").value_or(0));
  point.epoch = Number(line, "epoch").value_or(0);
  point.train_seconds = Number(line, "train_seconds").value_or(0);
  point.train_loss = Number(line, "train_loss");
  point.loss = Number(line, "loss");
  point.accuracy = Number(line, "accuracy");
  metrics.evaluations.push_back(point);
}

}  // namespace

RunMetrics ReadRunMetrics(const std::filesystem::path& path) {
  RunMetrics metrics;
  ForEachMetricsLine(path, [&](std::string_view line) {
    if (line.starts_with(kStepStart)) {
      AddStep(line, metrics);
    } else if (line.find(kEvaluation) != std::string_view::npos) {
      AddEvaluation(line, metrics);
    }
  });
  return metrics;
}

}  // namespace ringside
