#ifndef RINGSIDE_RING_COLLECTIVES_COLLECTIVE_TABLE_H_
#define RINGSIDE_RING_COLLECTIVES_COLLECTIVE_TABLE_H_

#include <span>

#include "ringside/ring/core/collective_entry.h"

namespace ringside {

extern const CollectiveEntry kRingCollective;
extern const CollectiveEntry kHalvingDoublingCollective;
extern const CollectiveEntry kRecursiveDoublingCollective;
extern const CollectiveEntry kTreeCollective;
extern const CollectiveEntry kAutoCollective;
extern const CollectiveEntry kMpiCollective;
extern const CollectiveEntry kNcclCollective;
extern const CollectiveEntry kShmCollective;
extern const CollectiveEntry kHierarchicalCollective;

/// All collectives of this build.
std::span<const CollectiveEntry* const> CollectiveTable();

}  // namespace ringside

#endif  // RINGSIDE_RING_COLLECTIVES_COLLECTIVE_TABLE_H_
