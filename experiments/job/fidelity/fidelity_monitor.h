#ifndef RINGSIDE_EXPERIMENTS_JOB_FIDELITY_FIDELITY_MONITOR_H_
#define RINGSIDE_EXPERIMENTS_JOB_FIDELITY_FIDELITY_MONITOR_H_

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "ringside/experiments/job/fidelity/processor_watch.h"
#include "ringside/experiments/lab/lab.h"
#include "ringside/experiments/lab/link_counters.h"

namespace ringside {

/// Watches one job on an emulated network, from construction, after the calibration, until `Judge`.
/// Counts segments and lost packets of the whole job. Borrows the lab. Use it from one thread; the
/// processor is watched by another one.
class FidelityMonitor {
 public:
  explicit FidelityMonitor(const Lab& lab);

  /// Ends the watch and judges (`FidelityJson`). Call it once, when the job has ended and its
  /// network is still there. `report` is rank 0's, null when it sent none. `step_ms` is the median
  /// step in the machine's time; absent without a step. Never throws for what it could not read:
  /// that is not judged.
  nlohmann::json Judge(const nlohmann::json& report, std::optional<double> step_ms);

 private:
  struct Reading {
    LinkCounters counters;
    std::string error;  ///< Why there are none; empty when there are.
  };
  Reading Read() const;

  const Lab& lab_;
  const Reading before_;
  ProcessorWatch watch_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_FIDELITY_FIDELITY_MONITOR_H_
