#ifndef RINGSIDE_EXPERIMENTS_LAB_CALIBRATION_H_
#define RINGSIDE_EXPERIMENTS_LAB_CALIBRATION_H_

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/lab/lab.h"

namespace ringside {

/// The goodput of one link: the payload of one TCP connection in each direction, in bytes per
/// second, as seen from its host (or rack).
struct LinkCalibration {
  int host = -1;
  int uplink = -1;
  double rate_bits_per_s = 0;
  double expected_bytes_per_s = 0;  ///< `GoodputBytesPerSecond`
  double sent_bytes_per_s = 0;
  double received_bytes_per_s = 0;
  /// The shortest one between the host (or rack) and its switch, while the link is idle.
  std::optional<double> round_trip_s{};
  /// What both ends of its connections used, as their sockets say.
  std::string congestion_control{};
  /// Why these figures are not compared with the rate; empty when they are compared.
  std::string not_judged{};

  bool judged() const { return not_judged.empty(); }
  /// The larger of the relative distances of the two directions from the expected goodput.
  double error() const;
  /// True when the link was judged and carries what was requested.
  bool ok() const;
};

/// The largest relative error of a link that counts as correct.
inline constexpr double kLinkTolerance = 0.05;

/// Measures all links of a lab, each in tens of milliseconds. Measures several at a time, as many
/// as two cores can carry. Tries a link that looks slow again, alone, for a second or two at most.
/// The result nearest to what was requested counts: other load disturbs a measurement in either
/// direction, since what was queued meanwhile arrives faster. Links with
/// loss, jitter or much latency are measured once and not judged (`PlanHostCalibration`). Calls
/// `check` every few milliseconds and throws what it throws. Throws `CommError` naming the host
/// when no bytes arrive or no thread is available, and `MissingBackendError` when a socket uses
/// another congestion control than the one that was set.
std::vector<LinkCalibration> CalibrateLinks(
    const Lab& lab, const StopCheck& check = [] {});

/// The content of network.json (docs/run-bundle.md), before the run has connections. `links` were
/// measured in the machine's time; `dilation` turns their figures into those of the run's clock.
nlohmann::json NetworkRecord(const NetworkSpec& spec, const std::vector<LinkCalibration>& links,
                             double dilation = 1);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_CALIBRATION_H_
