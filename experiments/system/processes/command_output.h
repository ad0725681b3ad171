#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_COMMAND_OUTPUT_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_COMMAND_OUTPUT_H_

#include <string>
#include <vector>

#include "ringside/common/base/deadline.h"

namespace ringside {

/// Runs a short command and returns what it has written, standard error included. Throws
/// `MissingBackendError` when it cannot be started, does not end until the deadline, or exits with
/// another code than 0, `KilledProgramError` when a signal ends it; the message has what it wrote.
/// Throws `ResourceError` like `Process`.
std::string OutputOf(const std::vector<std::string>& argv, const Deadline& deadline);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_COMMAND_OUTPUT_H_
