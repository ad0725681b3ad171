#ifndef RINGSIDE_EXPERIMENTS_STATISTICS_SCALING_H_
#define RINGSIDE_EXPERIMENTS_STATISTICS_SCALING_H_

#include <optional>
#include <span>

namespace ringside {

struct Line {
  double slope = 0;
  double intercept = 0;
  double r2 = 0;  ///< 1 when all y are equal, because the line then fits exactly.
};

/// The least-squares line of y over x, which have the same length; absent with fewer than two
/// different x.
std::optional<Line> FitLine(std::span<const double> x, std::span<const double> y);

/// The serial fraction e = (1/speed-up - 1/p) / (1 - 1/p) of a measured speed-up on p workers: Karp
/// and Flatt, "Measuring Parallel Processor Performance", CACM 33(5), 1990. Absent with one worker
/// or without a speed-up. Below 0 when the speed-up is larger than p.
std::optional<double> KarpFlatt(double speedup, double workers);

/// Amdahl's serial fraction s, in [0, 1], of 1/speed-up = s + (1 - s)/p. It is the least-squares
/// fit of 1/speed-up. Absent without a point of more than one worker.
std::optional<double> FitAmdahl(std::span<const double> workers, std::span<const double> speedups);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STATISTICS_SCALING_H_
