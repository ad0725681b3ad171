#ifndef RINGSIDE_EXPERIMENTS_CLI_COMMANDS_H_
#define RINGSIDE_EXPERIMENTS_CLI_COMMANDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/experiments/spec/catalog.h"

namespace ringside {

using Arguments = std::vector<std::string>;

/// One verb. `run` gets the arguments after the verb and the catalog of this program. It returns
/// the exit code and throws the errors of common/base/errors.h.
struct Command {
  std::string_view name;
  std::string_view summary;
  bool hidden;  ///< Used by the launcher, not by people.
  int (*run)(const Arguments& args, const Catalog& catalog);
};

/// All verbs of this executable, in the order in which help lists them.
std::span<const Command> Commands();

int RunTrainCommand(const Arguments& args, const Catalog& catalog);
int RunMatrixCommand(const Arguments& args, const Catalog& catalog);
int RunIndexCommand(const Arguments& args, const Catalog& catalog);
int RunDemoCommand(const Arguments& args, const Catalog& catalog);
int RunReportCommand(const Arguments& args, const Catalog& catalog);
int RunCompareCommand(const Arguments& args, const Catalog& catalog);
int RunVerifyCommand(const Arguments& args, const Catalog& catalog);
int RunBenchCommand(const Arguments& args, const Catalog& catalog);
int RunCheckpointCommand(const Arguments& args, const Catalog& catalog);
int RunCertificatesCommand(const Arguments& args, const Catalog& catalog);
int RunManifestCommand(const Arguments& args, const Catalog& catalog);
int RunLessonCommand(const Arguments& args, const Catalog& catalog);
int RunListCommand(const Arguments& args, const Catalog& catalog);
int RunDoctorCommand(const Arguments& args, const Catalog& catalog);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_COMMANDS_H_
