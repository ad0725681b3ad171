#include "experiments/bench/bench_contenders.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "common/codec/codec.h"
#include "experiments/spec_keys.h"
#include "experiments/strategy_table.h"
#include "ring/collective_table.h"

namespace ringside {
namespace {

/// An operation is over when the slowest worker's is; wrong elements add up; what one worker tells
/// of its strategy all would.
void Merge(const nlohmann::json& row, BenchSample& sample) {
  const auto times = row.at("times_us").get<std::vector<double>>();
  sample.times_us.resize(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    sample.times_us[i] = std::max(sample.times_us[i], times[i]);
  }
  const auto& wrong = row.at("wrong");
  if (!wrong.is_null()) sample.wrong = sample.wrong.value_or(0) + wrong.get<std::int64_t>();
  if (sample.notes.empty()) sample.notes = row.at("notes").get<std::vector<std::string>>();
}

/// Of the report of a job, `BenchSummary`.
std::vector<BenchSample> SamplesOf(const nlohmann::json& summary) {
  std::vector<BenchSample> samples;
  for (const auto& worker : summary.at("workers")) {
    const auto& rows = worker.at("sizes");
    samples.resize(std::max(samples.size(), rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      samples[i].size = rows[i].at("size");
      Merge(rows[i], samples[i]);
    }
  }
  return samples;
}

/// The rounds of one strategy.
class StrategyRounds {
 public:
  StrategyRounds(RunSpec spec, const BenchPlan& plan, JobOptions options,
                 std::filesystem::path directory, BenchJob job)
      : spec_(std::move(spec)),
        plans_(Jobs(spec_, plan)),
        options_(std::move(options)),
        directory_(std::move(directory)),
        job_(std::move(job)) {}

  BenchRound Run() {
    BenchRound round;
    for (const BenchPlan& plan : plans_) {
      options_.bench = plan;
      options_.bundle_dir =
          (directory_ / (spec_.strategy + "-" + std::to_string(jobs_++))).string();
      round.outcome = job_(spec_, options_);
      if (round.outcome.status != JobStatus::kDone) break;
      if (round.outcome.summary.is_null()) continue;  // rank 0 reports
      round.network = round.outcome.summary.value("network", nlohmann::json());
      std::ranges::move(SamplesOf(round.outcome.summary), std::back_inserter(round.samples));
    }
    return round;
  }

 private:
  /// Servers hold one vector for as long as they live.
  static std::vector<BenchPlan> Jobs(const RunSpec& spec, const BenchPlan& plan) {
    if (IsCollective(spec.strategy)) return {plan};
    std::vector<BenchPlan> plans;
    for (const std::int64_t size : plan.sizes) {
      plans.push_back(plan);
      plans.back().sizes = {size};
    }
    return plans;
  }

  const RunSpec spec_;
  const std::vector<BenchPlan> plans_;
  JobOptions options_;
  const std::filesystem::path directory_;
  const BenchJob job_;
  int jobs_ = 0;
};

double WireBytesOf(const CodecOptions& codec, std::int64_t bytes) {
  return static_cast<double>(WireBytes(codec, static_cast<std::size_t>(bytes) / sizeof(float)));
}

/// What each worker must send at least, as its codec leaves it: what is gathered goes to everybody.
double SumBytes(const RunSpec& spec, std::int64_t bytes) {
  const CodecOptions& codec = spec.options.codec;
  const double encoded = WireBytesOf(codec, bytes);
  if (WayOf(codec.kind) == CodecWay::kGathered) return (spec.workers - 1) * encoded;
  return AllReduceBytes(spec.workers, static_cast<std::int64_t>(encoded));
}

/// Through the busiest NIC in one direction: what the bound divides by the link's rate.
double BusiestNicBytes(const RunSpec& spec, std::int64_t bytes) {
  const CodecOptions& codec = spec.options.codec;
  return FindStrategy(spec.strategy)
      ->bound({.workers = spec.workers,
               .servers = spec.servers,
               .colocated = spec.colocated,
               .bytes = WireBytesOf(codec, bytes),
               .pull_bytes = WireBytesOf(ReplyCodec(codec), bytes),
               .bytes_per_s = 1})
      .seconds;
}

}  // namespace

double AllReduceBytes(int workers, std::int64_t bytes) {
  return 2.0 * (workers - 1) / workers * static_cast<double>(bytes);
}

std::vector<std::string_view> BenchStrategies() {
  std::vector<std::string_view> names;
  for (const StrategyEntry* entry : StrategyTable()) {
    if (entry->make_server != nullptr || IsCollective(entry->name)) names.push_back(entry->name);
  }
  return names;
}

bool IsCollective(std::string_view strategy) {
  return std::ranges::any_of(CollectiveTable(),
                             [&](const CollectiveEntry* entry) { return entry->name == strategy; });
}

int JobsOfRound(const RunSpec& spec, const BenchPlan& plan) {
  return IsCollective(spec.strategy) ? 1 : static_cast<int>(plan.sizes.size());
}

BenchContender StrategyContender(const RunSpec& spec, const BenchPlan& plan,
                                 const JobOptions& options, const std::filesystem::path& directory,
                                 BenchJob job) {
  const bool collective = IsCollective(spec.strategy);
  const auto rounds =
      std::make_shared<StrategyRounds>(spec, plan, options, directory, std::move(job));
  BenchContender contender{.name = spec.strategy,
                           .servers = spec.servers,
                           .colocated = spec.colocated,
                           .codec = CodecText(spec.options.codec),
                           .run = [rounds] { return rounds->Run(); }};
  if (!collective) {
    contender.transport = FindSpecKey("ps-transport")->get(spec).get<std::string>();
  }
  contender.bytes_per_nic = [spec, collective](std::int64_t bytes) {
    return collective ? SumBytes(spec, bytes) : BusiestNicBytes(spec, bytes);
  };
  return contender;
}

}  // namespace ringside
