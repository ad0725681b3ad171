#include "ringside/experiments/statistics/warmup.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace ringside {
namespace {

constexpr std::size_t kBatch = 5;
constexpr std::size_t kMinimumBatches = 4;
constexpr double kMatters = 0.01;  // of the mean

// Means of batches of five values. Values at the end that do not fill a batch are ignored.
std::vector<double> BatchMeans(std::span<const double> values) {
  std::vector<double> means;
  for (std::size_t begin = 0; begin + kBatch <= values.size(); begin += kBatch) {
    const auto batch = values.subspan(begin, kBatch);
    means.push_back(std::accumulate(batch.begin(), batch.end(), 0.0) / kBatch);
  }
  return means;
}

double Mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool ChangesMean(std::span<const double> values, std::size_t declared, std::size_t detected) {
  if (detected <= declared || detected >= values.size()) return false;
  const double settled = Mean(values.subspan(detected));
  return std::abs(Mean(values.subspan(declared)) - settled) > kMatters * settled;
}

}  // namespace

WarmupVerdict JudgeWarmup(std::span<const double> step_ms, std::size_t declared) {
  const Warmup found = DetectWarmup(step_ms);
  WarmupVerdict verdict;
  if (!found.judged) return verdict;
  if (found.settled) verdict.detected = found.length;
  verdict.too_short = ChangesMean(step_ms, declared, found.length);
  return verdict;
}

Warmup DetectWarmup(std::span<const double> values) {
  const std::vector<double> means = BatchMeans(values);
  if (means.size() < kMinimumBatches) return {};
  const std::size_t half = means.size() / 2;
  double best = std::numeric_limits<double>::infinity();
  std::size_t cut = 0;
  // Welford's update, from the last batch backwards. It gives the tail's squared deviations without
  // a second pass, and without the cancellation of sums of squares.
  double mean = 0;
  double squares = 0;
  double count = 0;
  for (std::size_t first = means.size(); first-- > 0;) {
    ++count;
    const double delta = means[first] - mean;
    mean += delta / count;
    squares += delta * (means[first] - mean);
    if (first > half) continue;
    const double error = squares / (count * count);
    // Ties go to the shorter warm-up.
    if (error <= best) {
      best = error;
      cut = first;
    }
  }
  return {true, cut < half, cut * kBatch};
}

}  // namespace ringside
