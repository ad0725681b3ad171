#ifndef RINGSIDE_EXPERIMENTS_JOB_LINKS_LINK_PROBE_H_
#define RINGSIDE_EXPERIMENTS_JOB_LINKS_LINK_PROBE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/common/core/store.h"

namespace ringside {

/// This process's part in measuring the links between the hosts of a run.
struct LinkProbe {
  int host = 0;                      ///< Index of this process's host.
  std::vector<std::string> hosts{};  ///< The names of all; at least 2.
  bool measures = false;             ///< One process of each host measures; the others wait for it.
  std::string address{};             ///< Where it listens.
  std::string token{};               ///< The job's; strangers are not listened to.
};

/// Every host sends to the next one, over one TCP connection, all at the same time as in a ring.
/// The receiver lets TCP get up to speed, then divides the bytes that have come in half a second by
/// that time. Returns when the links have been measured, on all hosts. Puts the result into the
/// store, for `MeasuredLinks`. Throws `CommError` naming a host whose process does not do its
/// part.
void MeasureLinks(const LinkProbe& probe, Store& store, const Deadline& deadline);

/// The goodput into each host, in bytes per second, as the store has it; absent before all have
/// measured. `value` reads a key of the store.
std::optional<std::vector<double>> MeasuredLinks(
    int hosts, const std::function<std::optional<std::string>(const std::string& key)>& value);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LINKS_LINK_PROBE_H_
