#ifndef RINGSIDE_RING_COLLECTIVES_COLLECTIVE_TABLE_H_
#define RINGSIDE_RING_COLLECTIVES_COLLECTIVE_TABLE_H_

#include <vector>

#include "ringside/ring/core/collective_entry.h"

namespace ringside {

CollectiveEntry ShmCollectiveEntry();
CollectiveEntry HierarchicalCollectiveEntry();
CollectiveEntry AutoCollectiveEntry();
CollectiveEntry MpiCollectiveEntry();
CollectiveEntry NcclCollectiveEntry();

/// All collectives of this build: one for each of `LinkAlgorithms`, then those above.
std::vector<CollectiveEntry> CollectiveTable();

}  // namespace ringside

#endif  // RINGSIDE_RING_COLLECTIVES_COLLECTIVE_TABLE_H_
