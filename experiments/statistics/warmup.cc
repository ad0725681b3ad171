#include "ringside/experiments/statistics/warmup.h"

#include <limits>
#include <numeric>
#include <vector>

namespace ringside {
namespace {

constexpr std::size_t kBatch = 5;
constexpr std::size_t kMinimumBatches = 4;

// Means of batches of five values. Values at the end that do not fill a batch are ignored.
std::vector<double> BatchMeans(std::span<const double> values) {
  std::vector<double> means;
  for (std::size_t begin = 0; begin + kBatch <= values.size(); begin += kBatch) {
    const auto batch = values.subspan(begin, kBatch);
    means.push_back(std::accumulate(batch.begin(), batch.end(), 0.0) / kBatch);
  }
  return means;
}

}  // namespace

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
