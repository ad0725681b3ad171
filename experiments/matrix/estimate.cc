#include "experiments/matrix/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include "experiments/lab/network_plan.h"
#include "experiments/server_layout.h"
#include "experiments/strategy_table.h"
#include "experiments/transport.h"
#include "experiments/units.h"
#include "models/model_table.h"

namespace ringside {
namespace {

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Seconds of done runs, by cell, by kind, and all of them under "".
class Timings {
 public:
  explicit Timings(const std::vector<JournalLine>& journal) {
    for (const JournalLine& line : journal) {
      if (line.status != "done") continue;
      for (const std::string& key : {line.cell, line.kind}) {
        if (!key.empty()) by_key_[key].push_back(line.seconds);
      }
      by_key_[""].push_back(line.seconds);
    }
  }

  std::optional<double> Of(const RunSpec& spec) const {
    for (const std::string& key : {CellOf(spec), KindOf(spec), std::string()}) {
      if (const auto found = by_key_.find(key); found != by_key_.end()) {
        return Median(found->second);
      }
    }
    return std::nullopt;
  }

 private:
  std::map<std::string, std::vector<double>> by_key_;
};

std::unique_ptr<Model> MakeHere(const RunSpec& spec) {
  const auto table = ModelTable();
  const auto entry = std::ranges::find(table, spec.model, &ModelEntry::name);
  if (entry == table.end() || entry->make == nullptr) return nullptr;
  ModelOptions options;
  options.compute_ms = spec.compute_ms;
  return entry->make(options);
}

/// Seconds of one step as far as the spec tells; nothing where the model really computes.
std::optional<double> StepSeconds(const RunSpec& spec) {
  const std::unique_ptr<Model> model = MakeHere(spec);
  const StrategyEntry* strategy = FindStrategy(spec.strategy);
  if (model == nullptr || strategy == nullptr) return std::nullopt;
  const double compute_s = model->emulated_compute_ms() / 1000;
  if (spec.link_bits_per_s <= 0 || strategy->bound == nullptr || ServersNeedOneHost(spec)) {
    return compute_s;
  }
  const auto tensors = model->Tensors();
  CostInput input;
  input.workers = spec.workers;
  input.hosts = spec.hosts;
  input.servers = spec.servers;
  input.colocated = spec.colocated;
  input.bytes = sizeof(float) * std::accumulate(tensors.begin(), tensors.end(), 0.0,
                                                [](double sum, const auto& tensor) {
                                                  return sum + static_cast<double>(tensor.elements);
                                                });
  input.bytes_per_s = GoodputBytesPerSecond(spec.link_bits_per_s);
  input.latency_s = spec.link_latency_s;
  input.sync_every = spec.options.sync_every;
  return std::max(compute_s, strategy->bound(input).seconds);
}

}  // namespace

std::string Estimate::Text() const {
  std::string basis;
  const auto add = [&](int count, const std::string& how) {
    if (count > 0) basis += fmt::format("{}{} {}", basis.empty() ? "" : ", ", count, how);
  };
  add(timed, "as runs were timed before");
  add(calculated,
      fmt::format(
          "by steps x the longer of compute-ms and the link's bound, and {} s each to start "
          "and end",
          kNominalOverheadSeconds));
  add(unknown, fmt::format("that really compute, with the {} s to start and end alone: at least",
                           kNominalOverheadSeconds));
  return FormatSeconds(seconds) + (basis.empty() ? "" : " (" + basis + ")");
}

Estimate EstimateTime(const std::vector<PlannedRun>& runs,
                      const std::vector<JournalLine>& journal) {
  const Timings timings(journal);
  Estimate estimate;
  std::map<std::string, std::optional<double>> steps;  // by cell: repetitions are alike
  for (const PlannedRun& run : runs) {
    if (const auto timed = timings.Of(run.spec)) {
      estimate.seconds += *timed;
      ++estimate.timed;
      continue;
    }
    const auto [step, added] = steps.try_emplace(CellOf(run.spec));
    if (added) step->second = StepSeconds(run.spec);
    estimate.seconds += kNominalOverheadSeconds;
    if (!step->second) {
      ++estimate.unknown;
      continue;
    }
    estimate.seconds += *step->second * static_cast<double>(run.spec.steps);
    ++estimate.calculated;
  }
  return estimate;
}

}  // namespace ringside
