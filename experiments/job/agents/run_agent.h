#ifndef RINGSIDE_EXPERIMENTS_JOB_AGENTS_RUN_AGENT_H_
#define RINGSIDE_EXPERIMENTS_JOB_AGENTS_RUN_AGENT_H_

#include <string>
#include <vector>

#include "ringside/experiments/spec/catalog.h"

namespace ringside {

/// The arguments after the verb of an agent that a `RankStarter` starts.
struct AgentArguments {
  std::string coordinator;  ///< `Coordinator::target()`.
  std::string token_file;   ///< "-": the token comes through standard input.
  std::string tls{};        ///< As in `JobOptions`.
  bool quiet = false;       ///< The output of the process goes to its log alone.

  std::vector<std::string> ToArguments() const;
  /// Throws `UsageError`.
  static AgentArguments Parse(const std::vector<std::string>& arguments);
};

/// Runs an agent: asks the coordinator what to start, starts and watches it. Returns 0 when the
/// host of the job knows the outcome. Throws `UsageError`, `ConfigError` when the token cannot be
/// read or is refused, and `CommError` when the coordinator does not answer in time.
int RunAgent(const std::vector<std::string>& args, const Catalog& catalog);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_AGENTS_RUN_AGENT_H_
