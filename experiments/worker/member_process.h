#ifndef RINGSIDE_EXPERIMENTS_WORKER_MEMBER_PROCESS_H_
#define RINGSIDE_EXPERIMENTS_WORKER_MEMBER_PROCESS_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ringside/experiments/job/coordinator/coordinator_client.h"
#include "ringside/experiments/job/coordinator/drain_barrier.h"
#include "ringside/experiments/job/coordinator/heartbeat.h"
#include "ringside/experiments/job/processes/member_setup.h"
#include "ringside/experiments/worker/timeline_sender.h"

namespace ringside {

/// The result of a worker or server process.
struct MemberResult {
  std::string report;  ///< JSON.
};

/// The common part of a worker process and a server process. Reads the launcher's message, dies
/// with the launcher, joins the job and sends heartbeats. Turns an exception of `body` into a
/// failure report and an exit code. The process ends immediately when the job fails elsewhere or
/// the coordinator falls silent, whatever its threads are waiting for.
class MemberProcess {
 public:
  /// Joins and runs `body`. `args` follow the verb on the command line. Returns the exit code.
  static int Run(const std::vector<std::string>& args, const Catalog& catalog,
                 const std::function<MemberResult(MemberProcess&)>& body);

  const MemberSetup& setup() const { return setup_; }
  CoordinatorClient& client() { return *client_; }
  DrainBarrier& drain_barrier() { return drain_barrier_; }
  HeartbeatBuffer& buffer() { return buffer_; }
  /// The process's timeline; disabled unless the spec asks for one.
  Timeline& timeline() { return timeline_->timeline(); }
  /// Heartbeats tell what `doing` says, from now on. It is called by another thread, and no longer
  /// when the next call of `Tell` has returned. Empty: nothing is told.
  void Tell(std::function<ActivityBoard::Entry()> doing);

 private:
  explicit MemberProcess(MemberSetup setup);

  void Join();
  ActivityBoard::Entry CurrentActivity() const;
  /// Sends the report before the rest of the timeline, which matters less.
  void SubmitReport(const MemberResult& result);
  int ReportFailure(const FailureReason& reason);

  MemberSetup setup_;
  const std::string name_;
  DrainBarrier drain_barrier_{0};
  HeartbeatBuffer buffer_;
  std::unique_ptr<CoordinatorClient> client_;
  std::unique_ptr<TimelineSender> timeline_;
  mutable std::mutex activity_mutex_;
  std::function<ActivityBoard::Entry()> doing_;  // guarded by activity_mutex_
  std::unique_ptr<Heartbeat> heartbeat_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_MEMBER_PROCESS_H_
