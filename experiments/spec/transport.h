#ifndef RINGSIDE_EXPERIMENTS_SPEC_TRANSPORT_H_
#define RINGSIDE_EXPERIMENTS_SPEC_TRANSPORT_H_

#include <cstdint>
#include <optional>

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// How the bytes of a run's strategy travel between workers on `hosts` hosts: "tcp", "shm",
/// "shm+tcp", "grpc" and so on. The name is empty where no bytes travel, or where the catalog has
/// no such strategy. A pure function.
TransportUse TransportOf(const RunSpec& spec, int hosts);

/// Why all processes of the run must be on one host; then no link carries their bytes. Absent if
/// they may be on several hosts.
std::optional<OneHostNeed> OneHostNeedOf(const RunSpec& spec);

/// The number of steps from one sum over the workers to the next, at least 1.
std::int64_t StepsPerSum(const RunSpec& spec);

/// Whether times over the two transports can be compared. They can if both use the same medium:
/// then a difference comes from the strategies. An unknown transport counts as equal to every
/// other.
bool AreComparableTransports(const TransportUse& a, const TransportUse& b);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_TRANSPORT_H_
