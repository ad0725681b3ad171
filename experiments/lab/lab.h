#ifndef RINGSIDE_EXPERIMENTS_LAB_LAB_H_
#define RINGSIDE_EXPERIMENTS_LAB_LAB_H_

#include <functional>
#include <string>
#include <vector>

#include "experiments/lab/net_namespace.h"
#include "experiments/lab/network_plan.h"

namespace ringside {

/// Called between the steps of work that takes long; throws where it is to end now.
using StopCheck = std::function<void()>;

/// An emulated cluster on this machine: a network namespace a host and a switch, joined by veth
/// pairs; every link is shaped at both its ends. With racks there is a switch in each, and one more
/// between them. It has no name and no file: labs do not know of each other, and the kernel removes
/// one when the last process that uses it is gone. Immutable after construction.
class Lab {
 public:
  /// One link and how to measure it: a far end in `host`, a near end in `hub`.
  struct Link {
    int host = -1;    ///< -1: an uplink.
    int uplink = -1;  ///< Of this rack; -1: a host's link.
    double rate_bits_per_s = 0;
    const NetNamespace* far = nullptr;
    const NetNamespace* hub = nullptr;
    std::string far_address;
    std::string hub_address;
  };

  /// Throws `MissingBackendError` where this machine cannot build it, and what `check` throws.
  explicit Lab(
      NetworkPlan plan, const StopCheck& check = [] {});
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  const NetworkPlan& plan() const { return plan_; }
  const NetNamespace& host(int index) const { return hosts_.at(static_cast<std::size_t>(index)); }
  /// Of all hosts, then of all racks.
  std::vector<Link> links() const;

 private:
  void MakeSwitch(const NetNamespace& hub, const std::string& address) const;
  void MakeHost(int index) const;
  void MakeUplink(int rack) const;
  void JoinHosts(int rack) const;
  const NetNamespace& SwitchOf(int host) const;

  const NetworkPlan plan_;
  std::vector<NetNamespace> hosts_;
  std::vector<NetNamespace> switches_;  // of the racks; one without racks
  std::vector<NetNamespace> spine_;     // one with racks
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_LAB_H_
