#ifndef RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_CLOCK_OFFSET_H_
#define RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_CLOCK_OFFSET_H_

#include <cstdint>
#include <span>
#include <vector>

namespace ringside {

/// One request for the coordinator's time, in nanoseconds of the run's clock (`DilatedClock`).
struct ClockExchange {
  std::int64_t asked = 0;     ///< The member's clock at the request.
  std::int64_t answer = 0;    ///< The coordinator's clock.
  std::int64_t answered = 0;  ///< The member's clock at the reply.
};

/// How far the coordinator's clock was ahead of a member's, at one time of the member's clock.
struct ClockReading {
  std::int64_t at = 0;
  std::int64_t offset = 0;
  /// The largest possible error of the offset, however the round trip divides.
  std::int64_t uncertainty = 0;

  bool operator==(const ClockReading&) const = default;
};

/// Nine years: the most that a clock shows, an event lasts, or two clocks differ by. The sum of
/// eight such numbers is the largest time that a record may have.
inline constexpr std::int64_t kMostClockNanoseconds = std::int64_t{1} << 58;

/// Whether no number of a reading is larger than that. Others are no times.
bool IsClockReading(const ClockReading& reading);

/// Now, on the run's clock.
std::int64_t SteadyNanoseconds();

/// The reading from the exchange with the shortest round trip. It assumes that the coordinator read
/// its clock half-way (Cristian, 1989). `exchanges` is not empty.
ClockReading BestReading(std::span<const ClockExchange> exchanges);

/// Converts a member's clock to the coordinator's. Pure.
///
/// The readings, in order of time, give the offset. A single reading gives a constant offset. Two
/// or more give a line from the first to the last, which corrects drift. If every reading's offset
/// is within its own uncertainty, the clocks count as one, as on one machine, and the offset is 0.
///
/// All readings satisfy `IsClockReading`.
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

#endif  // RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_CLOCK_OFFSET_H_
