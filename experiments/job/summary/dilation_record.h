#ifndef RINGSIDE_EXPERIMENTS_JOB_SUMMARY_DILATION_RECORD_H_
#define RINGSIDE_EXPERIMENTS_JOB_SUMMARY_DILATION_RECORD_H_

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// What an emulated run was slowed down by.
struct DilationFacts {
  double factor = 1;
  int cores = 1;                    ///< That the run could use.
  std::optional<double> step_ms{};  ///< The median step, in dilated time.
};

/// The object `dilation` of summary.json (docs/run-bundle.md); null without an emulated network.
nlohmann::json DilationRecord(const RunSpec& spec, const DilationFacts& facts);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SUMMARY_DILATION_RECORD_H_
