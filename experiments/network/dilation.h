#ifndef RINGSIDE_EXPERIMENTS_NETWORK_DILATION_H_
#define RINGSIDE_EXPERIMENTS_NETWORK_DILATION_H_

#include <string>
#include <string_view>

#include "ringside/experiments/network/network_plan.h"

namespace ringside {

/// TCP waits for 120 s at most before it sends again, and the least time, 0.2 s, is dilated too.
inline constexpr double kMostDilation = 600;

/// By which factor a run asks to be slowed down (docs/time-dilation.md). A value.
struct Dilation {
  bool automatic = false;  ///< The factor follows from the network and the machine.
  double factor = 1;       ///< At least 1; not used if automatic.

  /// False only for a run that has the machine's time by all means.
  bool wanted() const { return automatic || factor > 1; }
  friend bool operator==(const Dilation&, const Dilation&) = default;
};

/// Reads "10", "2.5" or "auto". Throws `ConfigError` on anything else, a factor below 1 or above
/// `kMostDilation`.
Dilation ParseDilation(std::string_view text);
/// The text that `ParseDilation` reads.
std::string DilationText(const Dilation& dilation);

/// Throws `ConfigError` when the factor would make a link too slow to emulate, or a delay too long.
void CheckDilation(const Dilation& dilation, const NetworkSpec& network);

/// The most bits that all hosts together can send in a second. With dedicated servers on hosts of
/// their own, workers send to servers alone and servers to workers alone, so the smaller side
/// counts twice; `workers_exchange` says that workers also send to each other. Uplinks of racks are
/// not counted. Pure.
double MostBitsPerSecond(const NetworkPlan& plan, bool workers_exchange);

/// What one core carries, in bits per second sent by emulated hosts, while it is idle for a good
/// third of the time: `auto` aims at it (docs/time-dilation.md, "Fidelity").
inline constexpr double kBitsPerSecondOfACore = 1e9;

/// The least whole factor with which `cores` can carry `bits_per_s`. Pure.
double NeededDilation(double bits_per_s, int cores);

/// The factor of a run on a machine with `cores`: the one that was asked for, or `NeededDilation`,
/// or less where a link would become slower, or a delay longer, than it may be. Pure.
double ChooseDilation(const Dilation& dilation, const NetworkPlan& plan, double bits_per_s,
                      int cores);

/// The same network as it is built: rates are divided by the factor, and delays are multiplied.
/// Pure.
NetworkPlan Dilated(NetworkPlan plan, double factor);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_NETWORK_DILATION_H_
