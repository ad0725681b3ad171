#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RANK_STARTER_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RANK_STARTER_H_

#include <chrono>
#include <optional>
#include <string>

#include "ringside/experiments/job/processes/child_group.h"
#include "ringside/experiments/job/processes/member_setup.h"
#include "ringside/experiments/system/console.h"
#include "ringside/experiments/system/log_forwarder.h"
#include "ringside/experiments/system/orphan_watch.h"
#include "ringside/experiments/system/private_file.h"
#include "ringside/experiments/system/process.h"

namespace ringside {

/// Runs mpirun as a child of the process that hosts a job. mpirun starts an agent for every rank;
/// the agent starts and watches that rank's worker. Used by one thread, which must outlive it.
/// The destructor kills mpirun; agents and workers end when they lose the coordinator. The files of
/// mpirun and MPI go with this object, however mpirun has ended.
class RankStarter {
 public:
  /// `setup` is that of worker 0, with coordinator and token. Agents read it from a private file
  /// and fill in their ranks. Throws `MissingBackendError` when there is no mpirun.
  RankStarter(const MemberSetup& setup, const Environment& environment,
              const ChildGroup::Options& logs, Console& console);

  pid_t pid() const { return process_.pid(); }
  /// Forwards the output of mpirun and its ranks. Returns how mpirun ended, if it has. Never waits.
  const std::optional<ProcessEnd>& Poll();
  /// Removes the file with the job's secret. Call it when all agents have read it.
  void RemoveSetup() { setup_file_.reset(); }
  /// Waits up to `grace` for mpirun to end by itself, then ends it, and what it has left behind.
  void End(std::chrono::milliseconds grace);

 private:
  bool EndsWithin(std::chrono::milliseconds wait);
  void EndMpirun(std::chrono::milliseconds grace);

  std::optional<PrivateFile> setup_file_;
  const ScratchDirectory scratch_;
  const OrphanWatch orphans_;
  Process process_;
  LogForwarder log_;
};

/// Runs an agent that mpirun started for `RankStarter`. `args` are the arguments after the verb.
/// Returns 0 when the host of the job knows the outcome.
int RunAgent(const std::vector<std::string>& args, const Catalog& catalog);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RANK_STARTER_H_
