#ifndef RINGSIDE_EXPERIMENTS_REPORT_RUNS_RUN_FIDELITY_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RUNS_RUN_FIDELITY_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace ringside {

/// How slowly the clock of a run on emulated hosts went ("dilation" in summary.json).
struct RunDilation {
  double factor = 1;  ///< Seconds of the machine for one second of the run.
  std::string asked;  ///< A number's text, or "auto".
  std::optional<int> cores;
  std::optional<int> hosts;
  std::optional<double> equivalent_cores_per_host;  ///< factor x cores / hosts
  std::optional<double> wall_step_ms;               ///< The median step in the machine's time.
  std::vector<std::string> scaled;
  std::vector<std::string> not_scaled;
};

/// Whether the machine limited a run.
enum class FidelityVerdict {
  kOk,
  kLimited,    ///< Its numbers are of the machine, not of the emulated network.
  kNotJudged,  ///< Too little was recorded.
};

/// "ok", "limited", "not judged".
const char* FidelityName(FidelityVerdict verdict);

/// Whether the machine was fast enough for a run on emulated hosts ("fidelity" in summary.json).
struct RunFidelity {
  FidelityVerdict verdict = FidelityVerdict::kNotJudged;
  std::vector<std::string> limited_by;  ///< "the processor: 4 % idle in ..."; only when limited.
  std::string not_judged;               ///< Why it was not judged.
  std::optional<double> judged_seconds;
  std::optional<double> least_idle_share;  ///< Of all cores, over each second.
  std::optional<double> median_idle_share;
  std::optional<double> late_wakeups_worst_ms;  ///< 99th percentile of the worst second.
  std::optional<double> late_wakeups_allowed_ms;
  std::optional<double> retransmitted_share;
  std::optional<double> dropped_packets;
};

/// Reads "dilation" of a summary. Absent when the summary has none. Pure.
std::optional<RunDilation> ReadDilation(const nlohmann::json& summary);

/// Reads "fidelity" of a summary. Absent when the summary has none. Pure.
std::optional<RunFidelity> ReadFidelity(const nlohmann::json& summary);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RUNS_RUN_FIDELITY_H_
