#ifndef RINGSIDE_RING_CORE_FAILURE_ATTRIBUTION_H_
#define RINGSIDE_RING_CORE_FAILURE_ATTRIBUTION_H_

#include <string>

#include "ringside/common/core/store.h"

namespace ringside {

/// Finds the rank that failed. A lost rank breaks the whole collective. Most ranks only see that a
/// neighbour has left, and that neighbour only gave up itself. So a rank that fails writes into the
/// store which peer it missed, and closes its connections. Then it follows these notes to the one
/// rank that wrote none.
///
/// This function writes into the store that `reporter` misses `suspect`. It never throws a
/// `CommError`: without the store, each rank reports what it saw itself.
void ReportMissingPeer(Store& store, const std::string& prefix, const std::string& reporter,
                       const std::string& suspect);
/// Returns the last rank of the chain of notes that starts at `suspect`; waits 300 ms for notes.
std::string FindFailedPeer(Store& store, const std::string& prefix, const std::string& reporter,
                           const std::string& suspect);

}  // namespace ringside

#endif  // RINGSIDE_RING_CORE_FAILURE_ATTRIBUTION_H_
