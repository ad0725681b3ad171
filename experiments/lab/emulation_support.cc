#include "ringside/experiments/lab/emulation_support.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/killed_program_error.h"
#include "ringside/experiments/lab/iproute.h"
#include "ringside/experiments/lab/node_settings.h"
#include "ringside/experiments/system/files/find_program.h"
#include "ringside/experiments/system/network/net_namespace.h"
#include "ringside/experiments/system/network/tcp_connections.h"

namespace ringside {
namespace {

/// The reason why `action` is refused; empty when it is not.
template <typename Action>
std::string WhyNot(const Action& action) {
  try {
    action();
    return "";
  } catch (const KilledProgramError&) {
    throw;  // the machine has refused nothing
  } catch (const Error& error) {
    return error.what();
  }
}

std::string WhyNoNamespaces() {
  for (const char* tool : {"ip", "tc"}) {
    if (FindProgram(tool).empty()) return fmt::format("there is no {}: install iproute2", tool);
  }
  const auto make = [] { NetNamespace::Make().SetKernelSetting(kSlowStartAfterIdle, "0"); };
  std::string reason = WhyNot(make);
  if (reason.empty()) return "";
  if (::geteuid() == 0) {
    return reason +
           ": in a container, give it CAP_SYS_ADMIN, CAP_NET_ADMIN and a writable /proc/sys";
  }
  const std::string without_root = EnterUserNamespace();
  if (without_root.empty()) reason = WhyNot(make);
  if (reason.empty()) return "";
  return reason + (without_root.empty() ? "" : "; " + without_root) + ": run it as root (sudo)";
}

std::string WhyNoHosts() {
  std::string reason = WhyNoNamespaces();
  if (!reason.empty()) return reason;
  return WhyNot([] { TcpConnections(NetNamespace::Make()).List(); });
}

std::string WhyNoDiscipline(const std::string& discipline) {
  return WhyNot(
      [&] { RunTc(NetNamespace::Make(), fmt::format("qdisc add dev lo root {}\n", discipline)); });
}

std::string WhyNoRates() {
  const std::string reason = WhyNoDiscipline("tbf rate 1gbit burst 32kb latency 50ms");
  return reason.empty() ? "" : reason + ": the kernel needs sch_tbf";
}

std::string WhyNoDelays() {
  const std::string reason = WhyNoDiscipline("netem delay 1ms");
  return reason.empty() ? ""
                        : reason +
                              ": latency, jitter and loss need the kernel's sch_netem "
                              "(modprobe sch_netem, or another kernel)";
}

/// The congestion controls that the kernel has, sorted. It may load others when they are asked for.
std::vector<std::string> LoadedCongestionControls() {
  std::istringstream words(
      NetNamespace::Make().KernelSetting("ipv4/tcp_available_congestion_control"));
  std::vector<std::string> names;
  for (std::string name; words >> name;) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

/// Those of the kernel, and those that it may load.
std::vector<std::string> PossibleCongestionControls() {
  std::vector<std::string> names = LoadedCongestionControls();
  for (const std::string name : {"bbr", "cubic", "reno"}) names.push_back(name);
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

/// Tries it as a lab does: by a route (here to addresses that are kept for documentation).
std::string WhyNoCongestionControl(const std::string& name) {
  std::string reason = WhyNot([&] {
    RunIp(NetNamespace::Make(), fmt::format("link set dev lo up\n"
                                            "route replace 192.0.2.0/24 dev lo congctl {}\n",
                                            name));
  });
  if (reason.empty()) return "";
  const std::vector<std::string> loaded = LoadedCongestionControls();
  if (std::ranges::find(loaded, name) != loaded.end()) return reason;
  return fmt::format("the kernel has no congestion control '{0}'; it has {1} (modprobe tcp_{0})",
                     name, fmt::join(loaded, ", "));
}

LabSupport Support() {
  const std::string hosts = WhyNoHosts();
  if (!hosts.empty()) return {hosts, "needs emulated hosts", "needs emulated hosts"};
  LabSupport support{"", WhyNoRates(), WhyNoDelays(), PossibleCongestionControls()};
  std::erase_if(support.congestion_controls,
                [](const std::string& name) { return !WhyNoCongestionControl(name).empty(); });
  return support;
}

}  // namespace

LabSupport ProbeLab() {
  try {
    return Support();
  } catch (const KilledProgramError& error) {
    return {error.what(), error.what(), error.what()};
  }
}

std::string WhyNoLab(const NetworkSpec& spec) {
  std::string reason = WhyNoHosts();
  if (reason.empty()) reason = WhyNoRates();
  if (reason.empty() && spec.needs_netem()) reason = WhyNoDelays();
  if (reason.empty()) reason = WhyNoCongestionControl(spec.congestion);
  return reason.empty() ? "" : "the network cannot be emulated here: " + reason;
}

}  // namespace ringside
