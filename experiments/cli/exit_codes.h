#ifndef RINGSIDE_EXPERIMENTS_CLI_EXIT_CODES_H_
#define RINGSIDE_EXPERIMENTS_CLI_EXIT_CODES_H_

#include <string_view>

#include "experiments/job/run_job.h"

namespace ringside {

/// What `ringside` returns to its caller, whatever the verb.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInvalidSpec = 3;
inline constexpr int kExitMissingBackend = 4;
inline constexpr int kExitComparisonFailed = 5;
inline constexpr int kExitTimedOut = 124;
inline constexpr int kExitInterrupted = 130;

/// Exit code of a verb that carried out a run of `spec_file`; where that is empty, of its flags.
int ExitCodeOf(const JobOutcome& outcome, std::string_view spec_file);

/// Exit code for the exception being handled, its message on stderr. Call inside a catch block.
int ReportCurrentException();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_EXIT_CODES_H_
