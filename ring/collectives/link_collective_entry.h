#ifndef RINGSIDE_RING_COLLECTIVES_LINK_COLLECTIVE_ENTRY_H_
#define RINGSIDE_RING_COLLECTIVES_LINK_COLLECTIVE_ENTRY_H_

#include "ringside/ring/algorithms/link_algorithm.h"
#include "ringside/ring/core/collective_entry.h"

namespace ringside {

/// Returns the collective that sums over Gloo's links with this algorithm (`GlooCollective`). The
/// entry points at `algorithm`, which lives as long as the program.
CollectiveEntry LinkCollectiveEntry(const LinkAlgorithm& algorithm);

}  // namespace ringside

#endif  // RINGSIDE_RING_COLLECTIVES_LINK_COLLECTIVE_ENTRY_H_
