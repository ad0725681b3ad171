#ifndef RINGSIDE_COMMON_STRATEGY_COMM_OPTIONS_H_
#define RINGSIDE_COMMON_STRATEGY_COMM_OPTIONS_H_

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

#include "ringside/common/measure/activity.h"

namespace ringside {

/// How the processes of a job reach each other.
struct CommOptions {
  std::string address =
      "127.0.0.1";         ///< This process listens and connects here: an IP address, never a name.
  std::string token = {};  ///< The members' token (docs/security.md): metadata, never logged.
  /// The directory of this host's certificates (`TlsFiles`). Empty: nothing is encrypted.
  std::string tls = {};
  std::chrono::milliseconds timeout{30'000};  ///< Limit of one operation.
  /// Limit of the rendezvous when a strategy starts, if it is longer than `timeout`: the processes
  /// of a job start at different speeds.
  std::chrono::milliseconds start_timeout{60'000};
  /// How far workers may drift apart between steps. A dead worker is noticed much earlier, by the
  /// job's leases.
  std::chrono::milliseconds barrier_timeout{std::chrono::hours(1)};

  /// The most bytes of a message that a server or worker over gRPC takes: an encoded bucket, or the
  /// plan. gRPC's own limit is 2 GiB.
  int largest_message_bytes = std::numeric_limits<int>::max();

  /// Where a strategy shows for which peer it waits; borrowed. Null: nowhere.
  ActivityBoard* activity = nullptr;

  /// Goodput of the slowest link between hosts, in bytes per second: as declared, else as measured
  /// before the run. 0: unknown.
  double link_bytes_per_s = 0;
  /// How long a byte takes from one host to another and back, on top of what the machines need.
  double link_round_trip_s = 0;
  /// The racks of hosts, as far as a run declares them. The hosts of a rack share an uplink.
  int racks = 1;

  std::chrono::milliseconds rendezvous_timeout() const { return std::max(start_timeout, timeout); }
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_COMM_OPTIONS_H_
