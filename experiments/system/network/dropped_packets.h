#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_NETWORK_DROPPED_PACKETS_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_NETWORK_DROPPED_PACKETS_H_

#include <cstdint>

#include "ringside/experiments/system/network/net_namespace.h"

namespace ringside {

/// The packets that the queueing disciplines of a namespace have dropped since they were made, over
/// all devices (rtnetlink, as `tc -s qdisc show` tells). A discipline inside another one counts
/// with the outer one alone, which also counts what the inner one refuses. A bundle of segments
/// counts once. Throws `MissingBackendError` when the kernel does not tell.
std::uint64_t DroppedPackets(const NetNamespace& where);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_NETWORK_DROPPED_PACKETS_H_
