#include "ringside/experiments/bench/bench_runner.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "ringside/experiments/statistics/step_statistics.h"

namespace ringside {
namespace {

/// Samples by size, then by contender. This is the order of the rows.
using Samples = std::map<std::pair<std::int64_t, std::size_t>, std::vector<BenchSample>>;

void AddWarmup(const WarmupReport& round, WarmupReport& all) {
  all.operations = std::max(all.operations, round.operations);
  all.ms = std::max(all.ms, round.ms);
  if (round.steady) all.steady = *round.steady && all.steady.value_or(true);
}

BenchRow MakeRow(const BenchCandidate& contender, std::size_t index, std::int64_t size,
                 const std::vector<BenchSample>& rounds) {
  BenchRow row{.contender = index, .size = size};
  std::vector<double> all;
  for (const BenchSample& sample : rounds) {
    row.round_us.push_back(Quantile(sample.times_us, 0.5).value_or(0));
    std::ranges::copy(sample.times_us, std::back_inserter(all));
    std::ranges::copy(sample.notes, std::back_inserter(row.notes));
    AddWarmup(sample.warmup, row.warmup);
    if (sample.wrong) row.wrong = row.wrong.value_or(0) + *sample.wrong;
  }
  row.time_us = Quantile(all, 0.5).value_or(0);
  row.p99_us = Quantile(all, 0.99).value_or(0);
  if (row.time_us <= 0) return row;
  row.algorithm_gb_per_s = static_cast<double>(size) / row.time_us / 1e3;
  row.bus_gb_per_s = contender.bytes_per_nic(size) / row.time_us / 1e3;
  return row;
}

void MarkBestPeers(const std::vector<BenchCandidate>& contenders, std::vector<BenchRow>& rows) {
  std::map<std::int64_t, BenchRow*> best;
  for (BenchRow& row : rows) {
    if (contenders[row.contender].kind != BenchKind::kBareGloo) continue;
    BenchRow*& first = best.try_emplace(row.size, &row).first->second;
    if (row.time_us < first->time_us) first = &row;
  }
  for (const auto& [size, row] : best) row->best_peer = true;
}

std::vector<BenchRow> MakeRows(const std::vector<BenchCandidate>& contenders,
                               const Samples& samples) {
  std::vector<BenchRow> rows;
  for (const auto& [key, rounds] : samples) {
    rows.push_back(MakeRow(contenders[key.second], key.second, key.first, rounds));
  }
  MarkBestPeers(contenders, rows);
  return rows;
}

}  // namespace

std::int64_t BenchResult::wrong() const {
  return std::accumulate(
      rows.begin(), rows.end(), std::int64_t{0},
      [](std::int64_t sum, const BenchRow& row) { return sum + row.wrong.value_or(0); });
}

BenchResult RunBench(const std::vector<BenchCandidate>& contenders, int rounds,
                     const BenchProgress& progress) {
  BenchResult result;
  result.outcome.status = JobStatus::kDone;
  Samples samples;
  std::vector<std::size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::minstd_rand random(1);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t index : order) {
      const BenchCandidate& contender = contenders[index];
      progress(contender, round);
      BenchRound done = contender.run();
      for (nlohmann::json& job : done.fidelity) {
        job["strategy"] = contender.name;
        result.fidelity.push_back(std::move(job));
      }
      if (done.outcome.status == JobStatus::kDone && done.outcome.stop_requested) {
        done.outcome.status = JobStatus::kInterrupted;
        done.outcome.error = "interrupted";
      }
      if (done.outcome.status != JobStatus::kDone) {
        done.outcome.error = contender.name + ": " + done.outcome.error;
        result.outcome = std::move(done.outcome);
        result.rows = MakeRows(contenders, samples);
        return result;
      }
      if (done.network.is_object()) result.network = std::move(done.network);
      for (BenchSample& sample : done.samples) {
        samples[{sample.size, index}].push_back(std::move(sample));
      }
    }
  }
  result.rows = MakeRows(contenders, samples);
  return result;
}

}  // namespace ringside
