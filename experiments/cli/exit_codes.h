#ifndef RINGSIDE_EXPERIMENTS_CLI_EXIT_CODES_H_
#define RINGSIDE_EXPERIMENTS_CLI_EXIT_CODES_H_

#include <string_view>

#include "ringside/experiments/job/core/job_outcome.h"

namespace ringside {

/// The exit codes of `ringside`, the same for all verbs.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInvalidSpec = 3;
inline constexpr int kExitMissingBackend = 4;
inline constexpr int kExitComparisonFailed = 5;
inline constexpr int kExitTimedOut = 124;
inline constexpr int kExitInterrupted = 130;

/// The exit code after a run. `spec_file` is the file of its spec; empty: it came from flags.
int ExitCodeOf(const JobOutcome& outcome, std::string_view spec_file);

/// The exit code for the current exception. Prints its message on stderr. Call in a catch block.
int ReportCurrentException();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_EXIT_CODES_H_
