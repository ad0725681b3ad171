#ifndef RINGSIDE_EXPERIMENTS_CLI_COMMANDS_H_
#define RINGSIDE_EXPERIMENTS_CLI_COMMANDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

using Arguments = std::vector<std::string>;

/// One verb. `run` gets what follows the verb, returns the exit code, and throws the errors of
/// common/errors.h.
struct Command {
  std::string_view name;
  std::string_view summary;
  bool hidden;  ///< Internal: the launcher's, not for people.
  int (*run)(const Arguments& args);
};

/// All verbs of this executable, in the order in which help lists them.
std::span<const Command> Commands();

int RunTrainCommand(const Arguments& args);
int RunMatrixCommand(const Arguments& args);
int RunIndexCommand(const Arguments& args);
int RunReportCommand(const Arguments& args);
int RunCompareCommand(const Arguments& args);
int RunVerifyCommand(const Arguments& args);
int RunBenchCommand(const Arguments& args);
int RunListCommand(const Arguments& args);
int RunDoctorCommand(const Arguments& args);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_COMMANDS_H_
