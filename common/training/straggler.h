#ifndef RINGSIDE_COMMON_TRAINING_STRAGGLER_H_
#define RINGSIDE_COMMON_TRAINING_STRAGGLER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace ringside {

/// Which workers are slowed on purpose, and when. The slowdown is emulated: the worker waits, it
/// does not compute more.
struct StragglerOptions {
  enum class Kind {
    kNone,
    kPermanent,  ///< One worker, in every step.
    kRotating,   ///< One worker after the other, `every` steps each.
    kRandom,     ///< Each worker in each step with `probability`, independently.
  };
  Kind kind = Kind::kNone;
  double factor = 1;         ///< Of the slowed worker's compute time, > 1.
  std::int64_t every = 10;   ///< rotating: steps until it is the next worker's turn, >= 1.
  double probability = 0.1;  ///< random: 0 < probability <= 1.
  int worker = 0;            ///< permanent: which worker.

  bool operator==(const StragglerOptions&) const = default;
};

/// Reads "none", or "kind=rotating,factor=2,every=5": a kind (permanent, rotating, random), a
/// factor, and what the kind reads of every, probability and worker. Throws `ConfigError` with the
/// reason.
StragglerOptions ParseStraggler(std::string_view text);
/// The text that `ParseStraggler` reads, with every value that the kind uses.
std::string StragglerText(const StragglerOptions& options);

/// The factor by which worker `worker` of `workers` is slowed in `step`: 1 or `factor`. A pure
/// function of its arguments, so it is the same on every rank. Only `random` uses `seed`.
double Slowdown(const StragglerOptions& options, std::uint64_t seed, std::int64_t step, int worker,
                int workers);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRAINING_STRAGGLER_H_
