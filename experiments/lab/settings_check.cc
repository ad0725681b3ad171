#include "ringside/experiments/lab/settings_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/lab/iproute.h"

namespace ringside {
namespace {

using Json = nlohmann::json;

// The kernel and tc round values. A wrong value is far more than this away from the right one.
constexpr double kRelativeTolerance = 0.01;
// tc counts the time of a burst in ticks of 64 ns, and tells it in whole microseconds.
constexpr double kBurstToleranceSeconds = 1.2e-6;
// tc tells the length of the queue as a time in whole microseconds, without the burst's.
constexpr double kQueueToleranceSeconds = 2e-6;
constexpr double kDelayToleranceSeconds = 128e-9;
constexpr double kLossTolerance = 1e-8;

/// Compares the settings of one node.
class Comparison {
 public:
  explicit Comparison(std::string node_name) : node_name_(std::move(node_name)) {}

  void Expect(const std::string& setting, const std::string& found,
              const std::string& asked) const {
    if (found != asked) Fail(setting, found, asked);
  }
  void Expect(const std::string& setting, std::int64_t found, std::int64_t asked) const {
    if (found != asked) Fail(setting, std::to_string(found), std::to_string(asked));
  }
  /// Both in `unit`; they may differ by `tolerance` and by one per cent.
  void ExpectNear(const std::string& setting, double found, double asked, double tolerance,
                  std::string_view unit) const {
    if (std::abs(found - asked) <= kRelativeTolerance * asked + tolerance) return;
    Fail(setting, fmt::format("{:.9g}{}", found, unit), fmt::format("{:.9g}{}", asked, unit));
  }

 private:
  [[noreturn]] void Fail(const std::string& setting, const std::string& found,
                         const std::string& asked) const {
    throw MissingBackendError(
        fmt::format("{}: {} is {}, although {} was set: the emulated network would not be the one "
                    "asked for",
                    node_name_, setting, found, asked));
  }

  const std::string node_name_;
};

/// The element of an array whose `key` is `value`; an empty object if there is none.
Json Find(const Json& array, const char* key, const std::string& value) {
  for (const Json& element : array) {
    if (element.value(key, "") == value) return element;
  }
  return Json::object();
}

// An answer without a key means that there is no such value. No setting is a negative number.
constexpr std::int64_t kNone = -1;

void CheckUp(const Comparison& comparison, const Json& links, const std::string& device) {
  const Json flags = Find(links, "ifname", device).value("flags", Json::array());
  const bool up = std::ranges::find(flags, Json("UP")) != flags.end();
  comparison.Expect("the state of " + device, up ? "up" : "down", "up");
}

void CheckPort(const Comparison& comparison, const Json& links, const PortSettings& port) {
  const Json link = Find(links, "ifname", port.device);
  const std::string none = "none";
  comparison.Expect("the bridge of " + port.device, link.value("master", none),
                    port.bridge.empty() ? none : port.bridge);
  comparison.Expect("gso_max_size of " + port.device, link.value("gso_max_size", kNone),
                    port.gso_max_bytes);
  comparison.Expect("gso_max_segs of " + port.device, link.value("gso_max_segs", kNone),
                    port.gso_max_segs);
  CheckUp(comparison, links, port.device);
}

void CheckAddress(const Comparison& comparison, const Json& links, const NodeSettings& node) {
  std::vector<std::string> found;
  const Json addresses = Find(links, "ifname", node.device).value("addr_info", Json::array());
  for (const Json& address : addresses) {
    if (address.value("family", "") != "inet") continue;
    found.push_back(
        fmt::format("{}/{}", address.value("local", ""), address.value("prefixlen", 0)));
  }
  comparison.Expect("the address of " + node.device,
                    found.empty() ? "none" : fmt::format("{}", fmt::join(found, " and ")),
                    fmt::format("{}/{}", node.address, kLabPrefix));
}

/// A metric of a route, or `otherwise` if the route has none.
template <typename Value>
Value MetricOf(const Json& route, const char* name, const Value& otherwise) {
  for (const Json& metric : route.value("metrics", Json::array())) {
    if (metric.contains(name)) return metric.at(name).get<Value>();
  }
  return otherwise;
}

/// Expects one route, through the node's device. `what` says which one, for messages.
void CheckRoute(const Comparison& comparison, const std::vector<Json>& routes,
                const std::string& what, const NodeSettings& node) {
  comparison.Expect("the number of routes to " + what, static_cast<std::int64_t>(routes.size()), 1);
  const Json& route = routes.front();
  comparison.Expect("the route to " + what, route.value("dst", ""), what);
  comparison.Expect("the device of the route to " + what, route.value("dev", "none"), node.device);
  comparison.Expect("the source of the route to " + what, route.value("prefsrc", "none"),
                    node.address);
  comparison.Expect("the congestion control of the route to " + what,
                    MetricOf(route, "congestion", std::string("the machine's default")),
                    node.congestion_control);
  comparison.Expect("quickack of the route to " + what, MetricOf(route, "quickack", kNone), 1);
  comparison.Expect("rto_min (in ms) of the route to " + what, MetricOf(route, "rto_min", kNone),
                    node.least_rto_ms);
}

/// The routes whose destination begins with `prefix`.
std::vector<Json> RoutesTo(const Json& table, std::string_view prefix) {
  std::vector<Json> routes;
  for (const Json& route : table) {
    if (route.value("type", "unicast") == "broadcast") continue;
    if (route.value("dst", "").starts_with(prefix)) routes.push_back(route);
  }
  return routes;
}

void CheckRoutes(const Comparison& comparison, const Json& main_table, const Json& local_table,
                 const NodeSettings& node) {
  // A second route to a part of the subnet would take precedence.
  const std::string_view subnet = kLabSubnet;
  const std::string_view first_bytes = subnet.substr(0, subnet.find(".0.0/") + 1);
  CheckRoute(comparison, RoutesTo(main_table, first_bytes), kLabSubnet, node);
  CheckRoute(comparison, RoutesTo(local_table, first_bytes), node.address, node);
}

void CheckShaper(const Comparison& comparison, const PortSettings& port, const Json& options) {
  const std::string of_device = " of " + port.device;
  // tc tells rates in bytes per second.
  const double rate = options.value("rate", 0.0);
  comparison.ExpectNear("the rate" + of_device, rate * 8, port.rate_bits_per_s, 0, " bit/s");
  const double burst = options.value("burst", 0.0);
  comparison.ExpectNear("the burst" + of_device, burst, port.burst_bytes,
                        kBurstToleranceSeconds * rate, " bytes");
  // The queue is either a size or the time that a packet waits at most after a burst.
  const double queue = options.contains("lat") ? burst + rate * options.value("lat", 0.0) / 1e6
                                               : options.value("limit", 0.0);
  comparison.ExpectNear("the queue" + of_device, queue, port.queue_bytes,
                        kQueueToleranceSeconds * rate, " bytes");
}

void CheckDelays(const Comparison& comparison, const PortSettings& port, const Json& options) {
  const std::string of_device = " of " + port.device;
  comparison.Expect("the most delayed packets" + of_device, options.value("limit", kNone),
                    kDelayedPackets);
  const Json delay = options.value("delay", Json::object());
  comparison.ExpectNear("the latency" + of_device, delay.value("delay", 0.0), port.latency_s,
                        kDelayToleranceSeconds, " s");
  comparison.ExpectNear("the jitter" + of_device, delay.value("jitter", 0.0), port.jitter_s,
                        kDelayToleranceSeconds, " s");
  const Json loss = options.value("loss-random", Json::object());
  comparison.ExpectNear("the loss" + of_device, loss.value("loss", 0.0), port.loss, kLossTolerance,
                        " of the packets");
}

/// The kinds from the outermost discipline to the innermost, such as "netem, tbf".
std::string Kinds(const Json& disciplines) {
  std::vector<std::string> kinds;
  for (const bool root : {true, false}) {
    for (const Json& discipline : disciplines) {
      if (discipline.value("root", false) == root) kinds.push_back(discipline.value("kind", ""));
    }
  }
  return kinds.empty() ? "none" : fmt::format("{}", fmt::join(kinds, ", "));
}

}  // namespace

void CheckDisciplines(const std::string& node_name, const PortSettings& port,
                      const Json& disciplines) {
  const Comparison comparison(node_name);
  comparison.Expect("the queueing of " + port.device, Kinds(disciplines),
                    port.needs_netem() ? "netem, tbf" : "tbf");
  CheckShaper(comparison, port, Find(disciplines, "kind", "tbf").at("options"));
  if (!port.needs_netem()) return;
  CheckDelays(comparison, port, Find(disciplines, "kind", "netem").at("options"));
}

void CheckSettings(const NetNamespace& where, const NodeSettings& node) {
  const Comparison comparison(node.name);
  std::string questions;
  for (const PortSettings& port : node.ports) {
    questions += fmt::format("qdisc show dev {}\n", port.device);
  }
  const std::vector<Json> disciplines = AskTc(where, questions);
  // `address show` tells of links what `link show` tells, and their addresses.
  const std::vector<Json> answers =
      AskIp(where, "address show\nroute show table main\nroute show table local\n");
  try {
    CheckUp(comparison, answers[0], "lo");
    CheckUp(comparison, answers[0], node.device);
    for (std::size_t i = 0; i < node.ports.size(); ++i) {
      CheckPort(comparison, answers[0], node.ports[i]);
      CheckDisciplines(node.name, node.ports[i], disciplines[i]);
    }
    CheckAddress(comparison, answers[0], node);
    CheckRoutes(comparison, answers[1], answers[2], node);
  } catch (const Json::exception& error) {
    throw MissingBackendError(fmt::format(
        "{}: iproute2 does not tell the settings in a known form: {}", node.name, error.what()));
  }
  comparison.Expect(kSlowStartAfterIdle, where.KernelSetting(kSlowStartAfterIdle), "0");
}

}  // namespace ringside
