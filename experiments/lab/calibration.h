#ifndef RINGSIDE_EXPERIMENTS_LAB_CALIBRATION_H_
#define RINGSIDE_EXPERIMENTS_LAB_CALIBRATION_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "experiments/lab/lab.h"

namespace ringside {

/// What one link carries: payload of one TCP connection in each direction, in bytes a second, seen
/// from its host (or rack).
struct LinkCalibration {
  int host = -1;
  int uplink = -1;
  double rate_bits_per_s = 0;
  double expected_bytes_per_s = 0;  ///< `GoodputBytesPerSecond`
  double sent_bytes_per_s = 0;
  double received_bytes_per_s = 0;
  /// Why these figures are not held against the rate; empty: they are.
  std::string not_judged{};

  bool judged() const { return not_judged.empty(); }
  /// The larger relative distance from what was asked for.
  double error() const;
  /// Judged, and as asked.
  bool ok() const;
};

/// Further off than this, a link is not what was asked for.
inline constexpr double kLinkTolerance = 0.05;

/// Measures all links of a lab, in tens of milliseconds each, several at a time as long as two
/// cores can carry them together. A link that looks slow is tried again, alone, for a
/// second or two at most, and the best counts: whatever else the machine does can only take away.
/// Links with loss, jitter or much latency are measured once and not judged
/// (`PlanHostCalibration`). Throws `CommError` naming the host where nothing comes through or no
/// thread can be had, and what `check` throws, which is called every few milliseconds.
std::vector<LinkCalibration> CalibrateLinks(
    const Lab& lab, const StopCheck& check = [] {});

/// The content of network.json (docs/run-bundle.md).
nlohmann::json NetworkRecord(const NetworkSpec& spec, const std::vector<LinkCalibration>& links,
                             const std::string& congestion_control);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_CALIBRATION_H_
