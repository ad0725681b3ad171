#ifndef RINGSIDE_EXPERIMENTS_LAB_LAB_H_
#define RINGSIDE_EXPERIMENTS_LAB_LAB_H_

#include <functional>
#include <string>
#include <vector>

#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/system/network/net_namespace.h"

namespace ringside {

/// Called between the steps of long work; throws when the work must stop.
using StopCheck = std::function<void()>;

/// An emulated cluster on this machine: one network namespace for each host and for the switch,
/// joined by veth pairs. Every link is shaped at both ends. With racks, each has a switch, and one
/// more joins them. A lab has no name and no file, so labs do not disturb each other. The kernel
/// removes a lab when its last process ends. Immutable after construction.
class Lab {
 public:
  /// One link and how to measure it. Its far end is in `host`, its near end in `switch_namespace`.
  struct Link {
    int host = -1;    ///< -1: an uplink.
    int uplink = -1;  ///< The rack of an uplink; -1: a host's link.
    double rate_bits_per_s = 0;
    const NetNamespace* far = nullptr;
    const NetNamespace* switch_namespace = nullptr;
    std::string host_address;
    std::string switch_address;
    std::string congestion_control;  ///< What both of its ends were set to.
  };

  /// Reads every setting back when it is made (`CheckSettings`). Throws `MissingBackendError` when
  /// this machine cannot build what was asked for, and what `check` throws.
  explicit Lab(
      NetworkPlan plan, const StopCheck& check = [] {});
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  const NetworkPlan& plan() const { return plan_; }
  const NetNamespace& host(int index) const { return hosts_.at(static_cast<std::size_t>(index)); }
  /// The links of all hosts, then of all racks.
  std::vector<Link> links() const;
  /// All hosts, then all switches.
  std::vector<const NetNamespace*> nodes() const;

 private:
  void MakeHosts(const StopCheck& check) const;
  void MakeSwitches(const StopCheck& check) const;
  const NetNamespace& SwitchOf(int host) const;

  const NetworkPlan plan_;
  std::vector<NetNamespace> hosts_;
  std::vector<NetNamespace> switches_;  // of the racks; one without racks
  std::vector<NetNamespace> spine_;     // one with racks
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_LAB_H_
