#ifndef RINGSIDE_EXPERIMENTS_CLI_SUMMARY_TEXT_H_
#define RINGSIDE_EXPERIMENTS_CLI_SUMMARY_TEXT_H_

#include <string>

#include "experiments/cli/color.h"
#include "experiments/job/run_job.h"

namespace ringside {

/// A finished run in a few lines for people. Values that the summary lacks are left away.
std::string SummaryText(const JobOutcome& outcome, const Painter& painter);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_SUMMARY_TEXT_H_
