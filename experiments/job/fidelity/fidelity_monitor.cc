#include "ringside/experiments/job/fidelity/fidelity_monitor.h"

#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/job/fidelity/fidelity_json.h"
#include "ringside/experiments/job/fidelity/judge_fidelity.h"
#include "ringside/experiments/job/fidelity/time_window.h"
#include "ringside/experiments/lab/node_settings.h"

namespace ringside {

FidelityMonitor::FidelityMonitor(const Lab& lab) : lab_(lab), before_(Read()) {}

FidelityMonitor::Reading FidelityMonitor::Read() const {
  try {
    return {ReadLinkCounters(lab_), ""};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

nlohmann::json FidelityMonitor::Judge(const nlohmann::json& report, std::optional<double> step_ms) {
  FidelityInput input{.processor = watch_.Stop(),
                      .windows = {},
                      .step_ms = step_ms,
                      .counters = {},
                      .counters_error = before_.error,
                      .segments_of_a_packet = MostSegmentsOfAPacket(lab_.plan()),
                      .loses_on_purpose = lab_.plan().spec.loss > 0};
  const Reading after = Read();
  if (input.counters_error.empty()) input.counters_error = after.error;
  if (input.counters_error.empty()) input.counters = after.counters - before_.counters;
  if (!report.is_object()) return UnjudgedFidelity("rank 0 ended without a report");
  try {
    input.windows = ReadWindows(report.value(kCountedWindowsKey, nlohmann::json::array()));
  } catch (const InternalError& error) {
    return UnjudgedFidelity(error.what());
  }
  return FidelityJson(JudgeFidelity(input));
}

}  // namespace ringside
