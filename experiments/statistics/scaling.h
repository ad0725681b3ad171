#ifndef RINGSIDE_EXPERIMENTS_STATISTICS_SCALING_H_
#define RINGSIDE_EXPERIMENTS_STATISTICS_SCALING_H_

#include <optional>
#include <span>

namespace ringside {

struct Line {
  double slope = 0;
  double intercept = 0;
  double r2 = 0;  ///< 1 where all y are equal: the line then says all there is.
};

/// Least squares of y on x; absent with fewer than two different x. Same lengths.
std::optional<Line> FitLine(std::span<const double> x, std::span<const double> y);

/// Karp and Flatt, "Measuring Parallel Processor Performance", CACM 33(5), 1990: the serial
/// fraction e = (1/speed-up - 1/p) / (1 - 1/p) that a measured speed-up on p workers amounts to.
/// Absent with one worker or without a speed-up. Below 0: more than linear.
std::optional<double> KarpFlatt(double speedup, double workers);

/// Amdahl's serial fraction s in 1/speed-up = s + (1 - s)/p that fits best by least squares of
/// 1/speed-up, in [0, 1]. Absent without a point of more than one worker.
std::optional<double> FitAmdahl(std::span<const double> workers, std::span<const double> speedups);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STATISTICS_SCALING_H_
