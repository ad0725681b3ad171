#ifndef RINGSIDE_EXPERIMENTS_JOB_RANK_STARTER_H_
#define RINGSIDE_EXPERIMENTS_JOB_RANK_STARTER_H_

#include <chrono>
#include <optional>
#include <string>

#include "experiments/job/child_group.h"
#include "experiments/job/console.h"
#include "experiments/job/log_pump.h"
#include "experiments/job/member_setup.h"
#include "experiments/job/private_file.h"
#include "experiments/job/process.h"

namespace ringside {

/// mpirun as a child of the process that hosts a job: it starts an agent for every rank, which
/// starts and watches the worker of that rank. Used by one thread, which must outlive it.
/// Destruction kills mpirun; agents and workers then end by themselves, for want of a coordinator.
class RankStarter {
 public:
  /// `setup`: of worker 0, with coordinator and token; the agents fill in their ranks. They read it
  /// from a private file. Throws `MissingBackendError` when there is no mpirun.
  RankStarter(const MemberSetup& setup, const Environment& environment,
              const ChildGroup::Options& logs, Console& console);

  pid_t pid() const { return process_.pid(); }
  /// Moves its output and that of its ranks; how it ended, once it has. Never waits.
  const std::optional<ProcessEnd>& Poll();
  /// Once all agents have read the setup, nobody else needs its secret.
  void RemoveSetup() { setup_file_.reset(); }
  /// Waits until it has ended by itself, `grace` at most, then ends it.
  void End(std::chrono::milliseconds grace);

 private:
  bool EndsWithin(std::chrono::milliseconds wait);

  std::optional<PrivateFile> setup_file_;
  Process process_;
  LogPump log_;
};

/// The life of an agent that mpirun has started for `RankStarter`: `args` are what follows the
/// verb. Returns 0 when the host of the job knows how it went.
int RunAgent(const std::vector<std::string>& args);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_RANK_STARTER_H_
