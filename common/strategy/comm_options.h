#ifndef RINGSIDE_COMMON_STRATEGY_COMM_OPTIONS_H_
#define RINGSIDE_COMMON_STRATEGY_COMM_OPTIONS_H_

#include <algorithm>
#include <chrono>
#include <string>

namespace ringside {

/// How processes of a job reach each other.
struct CommOptions {
  std::string address =
      "127.0.0.1";         ///< This process listens and connects here: an IP address, never a name.
  std::string token = {};  ///< The job's secret; travels in metadata, never in logs.
  std::chrono::milliseconds timeout{30'000};  ///< Of one operation.
  /// Of the rendezvous of a strategy's start, where it is longer than `timeout`: processes of a job
  /// start at different speeds.
  std::chrono::milliseconds start_timeout{60'000};
  /// How far workers may drift apart between steps; a dead worker is noticed by the job's leases
  /// long before.
  std::chrono::milliseconds barrier_timeout{std::chrono::hours(1)};

  std::chrono::milliseconds rendezvous_timeout() const { return std::max(start_timeout, timeout); }
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_COMM_OPTIONS_H_
