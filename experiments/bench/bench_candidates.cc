#include "ringside/experiments/bench/bench_candidates.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "ringside/common/codec/codec.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/transport.h"

namespace ringside {
namespace {

/// Adds a worker's row to a sample. The time of an operation is that of the slowest worker. Numbers
/// of wrong elements are added. All workers have the same notes, so one worker's notes are kept.
void Merge(const nlohmann::json& row, BenchSample& sample) {
  const auto times = row.at("times_us").get<std::vector<double>>();
  sample.times_us.resize(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    sample.times_us[i] = std::max(sample.times_us[i], times[i]);
  }
  const auto& wrong = row.at("wrong");
  if (!wrong.is_null()) sample.wrong = sample.wrong.value_or(0) + wrong.get<std::int64_t>();
  const WarmupReport warmup = ReadWarmup(row.at("warmup"));
  sample.warmup = {warmup.operations, std::max(sample.warmup.ms, warmup.ms), warmup.steady};
  if (sample.notes.empty()) sample.notes = row.at("notes").get<std::vector<std::string>>();
}

/// The samples in the report of a job (`BenchSummary`).
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
      const nlohmann::json& summary = round.outcome.summary;
      if (summary.is_object() && summary.value("fidelity", nlohmann::json()).is_object()) {
        round.fidelity.push_back(summary.at("fidelity"));
      }
      if (round.outcome.status != JobStatus::kDone || round.outcome.stop_requested) break;
      if (summary.is_null()) continue;  // only rank 0 reports
      round.network = summary.value("network", nlohmann::json());
      std::ranges::move(SamplesOf(summary), std::back_inserter(round.samples));
    }
    return round;
  }

 private:
  /// One plan per job. A server keeps the same vector for its whole life, so each size needs a job.
  static std::vector<BenchPlan> Jobs(const RunSpec& spec, const BenchPlan& plan) {
    if (IsCollective(spec.catalog(), spec.strategy)) return {plan};
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

/// The smallest number of encoded bytes that each worker sends. Gathered values go to all other
/// workers.
double SumBytes(const RunSpec& spec, std::int64_t bytes) {
  const CodecOptions& codec = spec.options.codec;
  const double encoded = WireBytesOf(codec, bytes);
  if (codec.entry->scheme == AggregationScheme::kGathered) return (spec.workers - 1) * encoded;
  return AllReduceBytes(spec.workers, static_cast<std::int64_t>(encoded));
}

/// Bytes through the busiest NIC in one direction. The bound divides them by the link's rate.
double BusiestNicBytes(const RunSpec& spec, std::int64_t bytes) {
  const CodecOptions& codec = spec.options.codec;
  return spec.catalog()
      .FindStrategy(spec.strategy)
      ->bound({.workers = spec.workers,
               .servers = spec.servers,
               .colocated = spec.colocated,
               .bytes = WireBytesOf(codec, bytes),
               .pull_bytes = WireBytesOf(ReplyCodec(codec), bytes),
               .bytes_per_s = 1})
      .seconds;
}

}  // namespace

WarmupReport ReadWarmup(const nlohmann::json& warmup) {
  WarmupReport report{.operations = warmup.at("operations"), .ms = warmup.at("ms")};
  const nlohmann::json& steady = warmup.at("steady");
  if (!steady.is_null()) report.steady = steady.get<bool>();
  return report;
}

double AllReduceBytes(int workers, std::int64_t bytes) {
  return 2.0 * (workers - 1) / workers * static_cast<double>(bytes);
}

std::vector<std::string_view> BenchStrategies(const Catalog& catalog) {
  std::vector<std::string_view> names;
  for (const StrategyEntry& entry : catalog.strategies()) {
    if (entry.traits.has_servers() || IsCollective(catalog, entry.name)) {
      names.emplace_back(entry.name);
    }
  }
  return names;
}

bool IsCollective(const Catalog& catalog, std::string_view strategy) {
  return catalog.FindCollective(strategy) != nullptr;
}

int JobsOfRound(const RunSpec& spec, const BenchPlan& plan) {
  return IsCollective(spec.catalog(), spec.strategy) ? 1 : static_cast<int>(plan.sizes.size());
}

BenchCandidate StrategyCandidate(const RunSpec& spec, const BenchPlan& plan,
                                 const JobOptions& options, const std::filesystem::path& directory,
                                 BenchJob job) {
  const bool collective = IsCollective(spec.catalog(), spec.strategy);
  const auto rounds =
      std::make_shared<StrategyRounds>(spec, plan, options, directory, std::move(job));
  BenchCandidate contender{.name = spec.strategy,
                           .servers = spec.servers,
                           .colocated = spec.colocated,
                           .codec = CodecText(spec.options.codec),
                           .run = [rounds] { return rounds->Run(); }};
  if (!collective) {
    contender.transport = TransportOf(spec, 1).name;
  }
  contender.bytes_per_nic = [spec, collective](std::int64_t bytes) {
    return collective ? SumBytes(spec, bytes) : BusiestNicBytes(spec, bytes);
  };
  return contender;
}

}  // namespace ringside
