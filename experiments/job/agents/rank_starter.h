#ifndef RINGSIDE_EXPERIMENTS_JOB_AGENTS_RANK_STARTER_H_
#define RINGSIDE_EXPERIMENTS_JOB_AGENTS_RANK_STARTER_H_

#include <chrono>
#include <optional>
#include <string>

#include "ringside/experiments/job/placement/placement.h"
#include "ringside/experiments/job/processes/child_group.h"
#include "ringside/experiments/job/processes/launcher_program.h"
#include "ringside/experiments/job/processes/member_setup.h"
#include "ringside/experiments/system/files/file_writer.h"
#include "ringside/experiments/system/files/private_file.h"
#include "ringside/experiments/system/output/console.h"
#include "ringside/experiments/system/output/log_forwarder.h"
#include "ringside/experiments/system/processes/death_watch.h"
#include "ringside/experiments/system/processes/orphan_watch.h"
#include "ringside/experiments/system/processes/process.h"

namespace ringside {

/// What another program is to start for a job: an agent for each worker and dedicated server.
struct AgentPlan {
  LauncherProgram program = LauncherProgram::kMpirun;
  Placement placement;
  MemberSetup setup;  ///< That of worker 0. The token does not leave this process with it.
  /// The file that has the token on every host. Empty: the processes are on this machine, or the
  /// program hands the token on.
  std::string token_file{};
  std::string program_path{};                       ///< Of mpirun or srun.
  std::chrono::milliseconds start_timeout{30'000};  ///< As in `LauncherOptions`.

  /// What agents ask for, at `kAgentSetupKey`: a JSON object without the token.
  std::string ToJson() const;
};

/// The key at which agents find what they are to start.
inline constexpr const char* kAgentSetupKey = "job/agents";

/// Runs mpirun or srun as a child of the process that hosts a job. It starts an agent for every
/// rank and server; the agent starts and watches that process. Used by one thread, which must
/// outlive it. The destructor kills the program; agents and workers end when they lose the
/// coordinator. Files that the program leaves on this machine go with this object, however the
/// program has ended; if this process is killed, a `DeathWatch` ends the program and removes them.
class RankStarter {
 public:
  /// `plan.setup` has coordinator and token. Agents get the token from a private file, or through
  /// the program's standard input. Throws `MissingBackendError` when the program cannot be started.
  RankStarter(const AgentPlan& plan, const Environment& environment,
              const ChildGroup::Options& logs, Console& console);
  RankStarter(const RankStarter&) = delete;
  RankStarter& operator=(const RankStarter&) = delete;

  const std::string& name() const { return name_; }
  pid_t pid() const { return process_.pid(); }
  const std::string& log_path() const { return log_path_; }
  /// Forwards the output of the program and its agents. Returns how it ended, if it has. Never
  /// waits.
  const std::optional<ProcessEnd>& Poll();
  /// The first line of its output that says anything, without those of the processes; empty if
  /// there is none.
  const std::string& FirstWords() const { return first_words_; }
  /// As in `ChildGroup`.
  void DrainLog() { log_.Drain(); }
  /// Removes the file with the job's secret. Call it when all agents have read it.
  void RemoveToken() { token_file_.reset(); }
  /// Waits up to `grace` for the program to end by itself, then ends it, and what it has left
  /// behind. A program that the kernel cannot end is left alone, with a warning.
  void End(std::chrono::milliseconds grace);

 private:
  /// Where agents read the token; empty if they read no file.
  const std::string& TokenPath(const AgentPlan& plan, const Environment& environment);
  bool EndsWithin(std::chrono::milliseconds wait);
  void EndProgram(std::chrono::milliseconds grace);

  Console& console_;
  const std::string name_;
  const std::string log_path_;
  std::optional<PrivateFile> token_file_;
  const ScratchDirectory scratch_;
  const OrphanWatch orphans_;
  const DeathWatch death_watch_;
  FileWriter log_writer_;
  Process process_;
  LogForwarder log_;
  std::string first_words_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_AGENTS_RANK_STARTER_H_
