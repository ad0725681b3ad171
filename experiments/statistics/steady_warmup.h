#ifndef RINGSIDE_EXPERIMENTS_STATISTICS_STEADY_WARMUP_H_
#define RINGSIDE_EXPERIMENTS_STATISTICS_STEADY_WARMUP_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace ringside {

/// The limits of a warm-up that lasts until times are steady, in the machine's time: what they are
/// for, such as processes that share a core, is the machine's.
struct WarmupLimits {
  /// Two processes that share a core at first were seen to do so for up to 140 ms, at a constant
  /// slow pace, which looks steady.
  double least_ms = 200;
  double most_ms = 2000;
};

/// What a warm-up was.
struct WarmupReport {
  int operations = 0;
  double ms = 0;                 ///< From its start to its end, in the slowest worker.
  std::optional<bool> steady{};  ///< Empty if the number of operations was given.
};

/// Decides how many operations warm up. It has only values that all workers know. So all of them
/// decide alike.
///
/// It runs operations in batches and judges after each batch by MSER-5 (`DetectWarmup`). Each batch
/// is as long as all before it together, but ends near `most_ms`. Neighbouring times are merged, so
/// that there are never more than `kMostValues`, each over the same number of operations.
class SteadyWarmup {
 public:
  static constexpr std::size_t kMostValues = 128;

  explicit SteadyWarmup(const WarmupLimits& limits = {}) : limits_(limits) {}

  /// How many values the next batch has. At least 1.
  std::size_t values() const { return next_; }
  /// How many operations one of these values is the sum of.
  int operations_per_value() const { return per_value_; }

  /// Takes the values of a batch in microseconds, of the slowest worker each, and the time since
  /// the start of the warm-up.
  void Add(std::span<const double> times_us, double elapsed_ms);

  /// True when the warm-up is over.
  bool done() const { return done_; }
  /// True when it is over and the times were steady. False if it reached `most_ms` before.
  bool steady() const { return steady_; }
  int operations() const { return operations_; }
  double elapsed_ms() const { return elapsed_ms_; }

 private:
  void Merge();
  std::size_t NextBatch() const;

  WarmupLimits limits_;
  std::vector<double> times_us_;
  int per_value_ = 1;
  std::size_t next_ = 1;
  int operations_ = 0;
  double elapsed_ms_ = 0;
  bool done_ = false;
  bool steady_ = false;
};

/// What a warm-up calls. `slowest` is collective: it replaces each value by the largest of all
/// workers. `run` does one operation and returns its microseconds.
struct WarmupCalls {
  std::function<double()> run;
  std::function<void(std::span<double>)> slowest;
};

/// Runs `operations` operations, or operations until they are steady. Collective.
WarmupReport WarmUp(std::optional<int> operations, const WarmupCalls& calls,
                    const WarmupLimits& limits = {});

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STATISTICS_STEADY_WARMUP_H_
