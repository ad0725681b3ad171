#include "ringside/experiments/job/summary/metrics_log.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "ringside/experiments/system/files/trusted_path.h"

namespace ringside {
namespace {

// The order of the keys is fixed, so all lines look alike.
nlohmann::ordered_json StepLine(const StepRecord& record) {
  const double samples = static_cast<double>(record.samples);
  nlohmann::ordered_json line{{"kind", "step"},
                              {"step", record.step},
                              {"step_ms", record.step_ms},
                              {"data_ms", record.data_ms},
                              {"compute_ms", record.compute_ms},
                              {"forward_ms", record.forward_ms},
                              {"submit_ms", record.submit_ms},
                              {"exposed_comm_ms", record.exposed_comm_ms},
                              {"codec_ms", record.codec_ms},
                              {"straggler_ms", record.straggler_ms},
                              {"samples", record.samples}};
  line["loss"] = record.samples == 0 ? nlohmann::ordered_json()
                                     : nlohmann::ordered_json(record.loss_sum / samples);
  return line;
}

nlohmann::ordered_json EvaluationLine(const HashedEvaluation& evaluation) {
  const EvaluationRecord& record = evaluation.record;
  nlohmann::ordered_json line{
      {"kind", "evaluation"},
      {"step", record.step},
      {"epoch", record.epoch},
      {"train_seconds", record.train_seconds},
      {"train_loss", record.train_loss},
      {"loss", record.loss},
      {"accuracy",
       record.accuracy ? nlohmann::ordered_json(*record.accuracy) : nlohmann::ordered_json()},
      {"params_sha256", evaluation.params_sha256}};
  if (!record.metrics.empty()) line["metrics"] = record.metrics;
  return line;
}

}  // namespace

MetricsLog::MetricsLog(const std::string& directory, int workers) {
  for (int rank = 0; rank < workers; ++rank) {
    const std::string path = rank == 0 ? fmt::format("{}/metrics.jsonl", directory)
                                       : fmt::format("{}/metrics-rank-{}.jsonl", directory, rank);
    files_.push_back(writer_.Add(OpenForWriting(path, O_TRUNC), path));
  }
}

void MetricsLog::Add(int rank, std::span<const StepRecord> steps,
                     std::span<const HashedEvaluation> evaluations) {
  if (steps.empty() && evaluations.empty()) return;
  std::string lines;
  for (const StepRecord& step : steps) lines += StepLine(step).dump() + '\n';
  for (const auto& evaluation : evaluations) lines += EvaluationLine(evaluation).dump() + '\n';
  writer_.Append(files_[static_cast<std::size_t>(rank)], std::move(lines));
}

std::string MetricsLog::Failure() const {
  for (const FileWriter::FileId file : files_) {
    if (std::string failure = writer_.Failure(file); !failure.empty()) return failure;
  }
  return {};
}

}  // namespace ringside
