#ifndef RINGSIDE_RING_CORE_FAILURE_ATTRIBUTION_H_
#define RINGSIDE_RING_CORE_FAILURE_ATTRIBUTION_H_

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/core/store.h"

namespace ringside {

/// Finds the rank that failed. A lost rank breaks the whole collective. Most ranks only see that a
/// neighbour has left, and that neighbour only gave up itself. So a rank that fails writes into the
/// store which peer it missed, and closes its connections. Then it follows these notes to the one
/// rank that wrote none, or that names itself. Ranks are named as errors name them.
///
/// This function writes into the store that `reporter` misses `suspect`. None of these functions
/// throws a `CommError`: without the store, each rank reports what it saw itself.
void ReportMissingPeer(Store& store, const std::string& prefix, const std::string& reporter,
                       const std::string& suspect);
/// Within this time, in the run's time, every rank that still runs has written whom it misses.
inline constexpr std::chrono::milliseconds kReportGrace{300};
/// Returns the last rank of the chain of notes that starts at `suspect`; in a circle of notes, whom
/// the first note names. Waits for notes for `grace`, in the run's time.
std::string FindFailedPeer(Store& store, const std::string& prefix, const std::string& reporter,
                           const std::string& suspect,
                           std::chrono::milliseconds grace = kReportGrace);

/// A rank whose network is cut off still writes notes where the store can be reached in another
/// way. Then all ranks write notes, these form a circle, and each rank would blame another one. So
/// ranks that fail also try to reach each other, and what more than half of them say counts. This
/// is what one rank says.
struct Ballot {
  std::string suspect;                      ///< As in its note.
  std::vector<std::string> accused{};       ///< By `Accused`.
  std::chrono::milliseconds probe_time{0};  ///< What a rank needs at most to find out.
  std::chrono::milliseconds probed{0};      ///< What this rank has needed, since its note.
};

/// Whom a rank accuses. `ranks`: all of the collective. `unreachable`: the others that did not
/// answer. A rank that reaches nobody accuses itself, if there are several others or its own link
/// is down. Pure.
std::vector<std::string> Accused(const std::string& self, std::span<const std::string> ranks,
                                 const std::vector<std::string>& unreachable, bool own_link_down);

struct Blame {
  std::string culprit{};
  int accusers = 0;  ///< That accuse the culprit. 0: the votes say nothing.
  int voters = 0;
};
/// The rank that more than half of the voters accuse; of several the one that most accuse, the
/// first one of `ranks`. Empty: there is none, because an answer may be lost or late. Pure.
Blame MostAccused(std::span<const std::string> ranks,
                  const std::vector<std::vector<std::string>>& votes);

/// The rank that more than half accuse, as far as ranks have written a note (`ReportMissingPeer`);
/// otherwise that of `FindFailedPeer`. Waits for notes until 300 ms after its own one, or
/// 20 ms for each rank without one if that is longer; for ballots `probe_time` longer, and 20 ms
/// for each that is missing.
Blame FindCulprit(Store& store, const std::string& prefix, const std::string& reporter,
                  std::span<const std::string> ranks, const Ballot& ballot);

}  // namespace ringside

#endif  // RINGSIDE_RING_CORE_FAILURE_ATTRIBUTION_H_
