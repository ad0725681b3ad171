#ifndef RINGSIDE_EXPERIMENTS_JOB_CLOCK_OFFSET_H_
#define RINGSIDE_EXPERIMENTS_JOB_CLOCK_OFFSET_H_

#include <cstdint>
#include <span>
#include <vector>

namespace ringside {

/// One question for the coordinator's time, in nanoseconds of steady clocks.
struct ClockExchange {
  std::int64_t asked = 0;     ///< Of the member.
  std::int64_t answer = 0;    ///< Of the coordinator.
  std::int64_t answered = 0;  ///< Of the member.
};

/// How far the coordinator's clock was ahead of a member's, at one moment of the member's.
struct ClockReading {
  std::int64_t at = 0;
  std::int64_t offset = 0;
  /// The true offset is at most this far away, however unevenly the way was split.
  std::int64_t uncertainty = 0;

  bool operator==(const ClockReading&) const = default;
};

/// Now, on this machine's steady clock.
std::int64_t SteadyNanoseconds();

/// Of the exchange with the shortest round trip: the answer was given somewhere between question
/// and answer, most likely half-way (Cristian, 1989). `exchanges` is not empty.
ClockReading BestReading(std::span<const ClockExchange> exchanges);

/// From a member's clock to the coordinator's. Pure.
///
/// Offset by the readings in order of time: that of the only one; with two or more a line between
/// the first and the last, which takes drift out. Where every reading's offset is within its own
/// uncertainty the two clocks cannot be told apart: they are one, as on one machine, and nothing is
/// added.
class ClockCorrection {
 public:
  ClockCorrection() = default;
  explicit ClockCorrection(std::vector<ClockReading> readings);

  /// Whether the clocks count as one.
  bool shared() const { return shared_; }
  const std::vector<ClockReading>& readings() const { return readings_; }
  std::int64_t ToCoordinator(std::int64_t member) const;

 private:
  std::vector<ClockReading> readings_;
  bool shared_ = true;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_CLOCK_OFFSET_H_
