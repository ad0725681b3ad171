#ifndef RINGSIDE_EXPERIMENTS_JOB_RANK_AGENT_H_
#define RINGSIDE_EXPERIMENTS_JOB_RANK_AGENT_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "experiments/job/child_group.h"
#include "experiments/job/console.h"
#include "experiments/job/coordinator_client.h"
#include "experiments/job/heartbeat.h"
#include "experiments/job/rendezvous_file.h"
#include "experiments/job/run_job.h"
#include "experiments/job/signal_watch.h"
#include "experiments/job/stop_gate.h"

namespace ringside {

/// Looks after one rank other than 0 of a joined job, or one server: starts its process, tells the
/// coordinator when that dies, ends it when the job fails elsewhere, and returns what the host of
/// the job decided. Used once, by one thread.
class RankAgent {
 public:
  /// `setup`: of the worker or server, with coordinator and token.
  RankAgent(MemberSetup setup, const JobOptions& options);

  /// Throws `ConfigError` when the job refuses this rank, `CommError` when the coordinator is not
  /// there in time.
  JobOutcome Run();

 private:
  void Join();
  void StartChild();
  void Watch();
  void TakeSignals();
  void TakeEnds();
  bool JobHasEnded() const;
  /// What the host says, waiting for it until the deadline.
  std::optional<JobOutcome> AskOutcome(const Deadline& deadline);

  const MemberSetup setup_;
  const JobOptions options_;
  SignalWatch signals_;
  Console console_;
  CoordinatorClient client_;
  ChildGroup children_;
  StopGate gate_{0};
  BeatBuffer buffer_;
  std::atomic<bool> wants_drain_{false};
  std::optional<JobOutcome> outcome_;

  mutable std::mutex mutex_;
  std::optional<std::string> job_ended_;  // guarded by mutex_
  std::unique_ptr<Heartbeat> heartbeat_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_RANK_AGENT_H_
