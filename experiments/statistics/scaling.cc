#include "ringside/experiments/statistics/scaling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ringside {
namespace {

double Mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

std::optional<Line> FitLine(std::span<const double> x, std::span<const double> y) {
  if (x.empty()) return std::nullopt;
  const double mean_x = Mean(x);
  const double mean_y = Mean(y);
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  if (xx <= 0) return std::nullopt;
  Line line;
  line.slope = xy / xx;
  line.intercept = mean_y - line.slope * mean_x;
  line.r2 = yy > 0 ? xy * xy / (xx * yy) : 1;
  return line;
}

std::optional<double> KarpFlatt(double speedup, double workers) {
  if (workers <= 1 || speedup <= 0) return std::nullopt;
  return (1 / speedup - 1 / workers) / (1 - 1 / workers);
}

// Amdahl's law as a line through the origin: 1/S - 1/p = s (1 - 1/p).
std::optional<double> FitAmdahl(std::span<const double> workers, std::span<const double> speedups) {
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (speedups[i] <= 0) continue;
    const double x = 1 - 1 / workers[i];
    products += x * (1 / speedups[i] - 1 / workers[i]);
    squares += x * x;
  }
  if (squares <= 0) return std::nullopt;
  return std::clamp(products / squares, 0.0, 1.0);
}

}  // namespace ringside
