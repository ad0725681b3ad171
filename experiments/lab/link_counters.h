#ifndef RINGSIDE_EXPERIMENTS_LAB_LINK_COUNTERS_H_
#define RINGSIDE_EXPERIMENTS_LAB_LINK_COUNTERS_H_

#include <cstdint>
#include <string_view>

#include "ringside/experiments/lab/lab.h"

namespace ringside {

/// What a lab's hosts have sent and lost since it was built.
struct LinkCounters {
  /// Segments that TCP sent, without those sent again: of all hosts, also inside a host.
  std::uint64_t sent_segments = 0;
  std::uint64_t retransmitted_segments = 0;
  /// `DroppedPackets` of all switches. A real host loses nothing in its own queue, so what hosts
  /// dropped is not counted here.
  std::uint64_t dropped_packets = 0;

  LinkCounters operator-(const LinkCounters& earlier) const {
    return {sent_segments - earlier.sent_segments,
            retransmitted_segments - earlier.retransmitted_segments,
            dropped_packets - earlier.dropped_packets};
  }
  friend bool operator==(const LinkCounters&, const LinkCounters&) = default;
};

/// Reads the counters of all hosts and switches. Throws `MissingBackendError` when one of them
/// cannot be read.
LinkCounters ReadLinkCounters(const Lab& lab);

/// The two numbers of TCP in the text of /proc/net/snmp. Throws `MissingBackendError` when they are
/// not there.
LinkCounters ParseTcpCounters(std::string_view snmp);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_LINK_COUNTERS_H_
