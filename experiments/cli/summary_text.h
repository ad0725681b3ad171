#ifndef RINGSIDE_EXPERIMENTS_CLI_SUMMARY_TEXT_H_
#define RINGSIDE_EXPERIMENTS_CLI_SUMMARY_TEXT_H_

#include <string>

#include "ringside/experiments/cli/options/color.h"
#include "ringside/experiments/job/core/job_outcome.h"

namespace ringside {

/// Describes a finished run in a few lines for people. Omits values that the summary lacks.
std::string SummaryText(const JobOutcome& outcome, const Painter& painter);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_SUMMARY_TEXT_H_
