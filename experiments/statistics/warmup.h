#ifndef RINGSIDE_EXPERIMENTS_STATISTICS_WARMUP_H_
#define RINGSIDE_EXPERIMENTS_STATISTICS_WARMUP_H_

#include <cstddef>
#include <optional>
#include <span>

namespace ringside {

struct Warmup {
  /// True with at least 20 values, which is enough to judge.
  bool judged = false;
  /// True when the series settles within its first half.
  bool settled = false;
  /// How many first values to leave out; half of the batches when the series did not settle.
  std::size_t length = 0;
};

/// MSER-5 finds how many first values to leave out, in batches of five, so that the mean of the
/// rest has the smallest standard error. It tries the cuts in the first half. If the last of them
/// is the best, the series has not settled there. White, "An effective truncation heuristic for
/// bias reduction in simulation output", Simulation 69(6), 1997; White, Cobb and Spratt, WSC 2000.
/// Takes O(n).
Warmup DetectWarmup(std::span<const double> values);

/// How the warm-up that a run declared fits its step times.
struct WarmupVerdict {
  /// How many first steps MSER-5 would leave out. Empty if the steps did not settle, or are too few
  /// to judge.
  std::optional<std::size_t> detected;
  /// True when the counted steps still contain warm-up: leaving out more steps changes their mean
  /// by more than 1 %. MSER-5 also finds cuts in noise, and those change nothing. Empty when the
  /// steps are too few to judge.
  std::optional<bool> too_short;
};

/// `step_ms` begins with the first step and ends with the last one that is timed. `declared` is how
/// many first steps the run leaves out.
WarmupVerdict JudgeWarmup(std::span<const double> step_ms, std::size_t declared);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STATISTICS_WARMUP_H_
