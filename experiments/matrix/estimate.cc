#include "ringside/experiments/matrix/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/run_dilation.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/spec/transport.h"
#include "ringside/experiments/system/environment/usable_cores.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Seconds of done runs, by cell and by kind. The key "" has all of them.
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

/// Seconds of one step, calculated from the spec. Absent if the model really computes.
std::optional<double> StepSeconds(const RunSpec& spec) {
  const ModelEntry* model = spec.catalog().FindModel(spec.model);
  const StrategyEntry* strategy = spec.catalog().FindStrategy(spec.strategy);
  if (model == nullptr || !model->traits.emulates_compute || strategy == nullptr) {
    return std::nullopt;
  }
  const double compute_s = spec.compute_ms / 1000;
  const double dilation = DilationOf(spec, UsableCores());
  if (spec.link_bits_per_s <= 0 || OneHostNeedOf(spec)) return dilation * compute_s;
  const std::vector<TensorSpec> tensors = model->tensors({});
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
  input.sync_every = StepsPerSum(spec);
  return dilation * std::max(compute_s, strategy->bound(input).seconds);
}

}  // namespace

std::string Estimate::Text() const {
  std::string basis;
  const auto add = [&](int count, const std::string& how) {
    if (count > 0) basis += fmt::format("{}{} {}", basis.empty() ? "" : ", ", count, how);
  };
  add(timed, "as timed in earlier runs");
  add(calculated,
      fmt::format(
          "as steps x the longer of compute-ms and the link's bound, and {} s each to start "
          "and end",
          kNominalOverheadSeconds));
  add(unknown, fmt::format("that really compute, of which only the {} s to start and end count: at "
                           "least this time",
                           kNominalOverheadSeconds));
  return FormatSeconds(seconds) + (basis.empty() ? "" : " (" + basis + ")");
}

Estimate EstimateTime(const std::vector<PlannedRun>& runs,
                      const std::vector<JournalLine>& journal) {
  const Timings timings(journal);
  Estimate estimate;
  std::map<std::string, std::optional<double>> steps;  // by cell: repetitions are equal
  for (const PlannedRun& run : runs) {
    if (const auto timed = timings.Of(run.spec)) {
      estimate.seconds += *timed;
      ++estimate.timed;
      continue;
    }
    const auto [cell, added] = steps.try_emplace(CellOf(run.spec));
    if (added) cell->second = StepSeconds(run.spec);
    estimate.seconds += kNominalOverheadSeconds;
    const std::optional<double>& step = cell->second;
    if (!step) {
      ++estimate.unknown;
      continue;
    }
    estimate.seconds += *step * static_cast<double>(run.spec.steps);
    ++estimate.calculated;
  }
  return estimate;
}

}  // namespace ringside
