#ifndef RINGSIDE_EXPERIMENTS_JOB_AGENTS_RANK_AGENT_H_
#define RINGSIDE_EXPERIMENTS_JOB_AGENTS_RANK_AGENT_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/experiments/job/coordinator/coordinator_client.h"
#include "ringside/experiments/job/coordinator/drain_barrier.h"
#include "ringside/experiments/job/coordinator/heartbeat.h"
#include "ringside/experiments/job/core/job_options.h"
#include "ringside/experiments/job/core/job_outcome.h"
#include "ringside/experiments/job/links/link_probe.h"
#include "ringside/experiments/job/processes/child_group.h"
#include "ringside/experiments/job/processes/member_setup.h"
#include "ringside/experiments/system/output/console.h"
#include "ringside/experiments/system/processes/signal_watch.h"

namespace ringside {

/// The agent of one rank other than 0, or of one server. Starts its process, tells the coordinator
/// when that process dies, ends it when the job fails elsewhere, and returns the outcome that the
/// host of the job decided. Used once, by one thread.
class RankAgent {
 public:
  /// What differs where the host of the job has started the launcher, and not the other way round.
  struct Launched {
    std::optional<LinkProbe> links;  ///< Its part in measuring them, before its process starts.
    std::chrono::milliseconds measure_timeout{30'000};
  };

  /// `setup` is that of the worker or server, with coordinator and token. With `launched` it takes
  /// no signals: the host of the job gets those of the user, and a launcher that gives up sends
  /// others.
  RankAgent(MemberSetup setup, const JobOptions& options, std::optional<Launched> launched = {});

  /// Throws `ConfigError` when the job refuses this rank, and `CommError` when the coordinator does
  /// not answer in time.
  JobOutcome Run();

 private:
  void Join();
  void MeasureLinks();
  void StartChild();
  JobOutcome Watch();
  /// Takes the signals. The first one asks the job to drain. Returns true at the second.
  bool KillRequested();
  /// Tells the coordinator how the process of the rank ended. Tries again at the next call.
  void TellEnds();
  /// Why the job has ended, once it has.
  std::optional<HeartbeatEnd> EndOfJob() const;
  /// Waits for the host's outcome until the deadline.
  std::optional<JobOutcome> AskOutcome(const Deadline& deadline);

  MemberSetup setup_;
  const JobOptions options_;
  const std::optional<Launched> launched_;
  SignalWatch signals_;
  Console console_;
  CoordinatorClient client_;
  ChildGroup children_;
  DrainBarrier drain_barrier_{0};
  HeartbeatBuffer buffer_;
  std::atomic<bool> wants_drain_{false};

  std::vector<ChildGroup::End> untold_;  // ends that the coordinator does not know

  mutable std::mutex mutex_;
  std::optional<HeartbeatEnd> job_ended_;  // guarded by mutex_
  std::unique_ptr<Heartbeat> heartbeat_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_AGENTS_RANK_AGENT_H_
