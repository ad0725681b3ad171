#ifndef RINGSIDE_EXPERIMENTS_WORKER_MEMBER_PROCESS_H_
#define RINGSIDE_EXPERIMENTS_WORKER_MEMBER_PROCESS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/job/coordinator_client.h"
#include "experiments/job/heartbeat.h"
#include "experiments/job/member_setup.h"
#include "experiments/job/stop_gate.h"
#include "experiments/worker/timeline_sender.h"

namespace ringside {

/// What a process brings home.
struct MemberResult {
  std::string report;  ///< JSON.
};

/// What is alike in the life of a worker process and of a server process: reads the launcher's
/// message, dies with the launcher, joins, beats, and turns what `body` throws into a failure
/// report and an exit code. The process ends at once when the job fails elsewhere or the
/// coordinator falls silent, whatever its threads are waiting for.
class MemberProcess {
 public:
  /// Joins. `args` are what follows the verb on the launcher's command line.
  static int Run(const std::vector<std::string>& args,
                 const std::function<MemberResult(MemberProcess&)>& body);

  const MemberSetup& setup() const { return setup_; }
  CoordinatorClient& client() { return *client_; }
  StopGate& gate() { return gate_; }
  BeatBuffer& buffer() { return buffer_; }
  /// Disabled unless the spec asks for one.
  Timeline& timeline() { return timeline_->timeline(); }

 private:
  explicit MemberProcess(MemberSetup setup);

  void Join();
  /// The report first: the rest of the timeline matters less.
  void HandIn(const MemberResult& result);
  int ReportFailure(FailureKind kind, const std::string& message);

  const MemberSetup setup_;
  const std::string name_;
  StopGate gate_{0};
  BeatBuffer buffer_;
  std::unique_ptr<CoordinatorClient> client_;
  std::unique_ptr<TimelineSender> timeline_;
  std::unique_ptr<Heartbeat> heartbeat_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_MEMBER_PROCESS_H_
