#ifndef RINGSIDE_EXPERIMENTS_JOB_CHILD_GROUP_H_
#define RINGSIDE_EXPERIMENTS_JOB_CHILD_GROUP_H_

#include <chrono>
#include <string>
#include <vector>

#include "experiments/job/console.h"
#include "experiments/job/log_pump.h"
#include "experiments/job/member.h"
#include "experiments/job/member_setup.h"
#include "experiments/job/process.h"

namespace ringside {

/// The worker and server processes that one launcher or agent has started, with their logs. Used by
/// one thread, which must outlive the children: they die with it. Destruction kills and reaps all.
class ChildGroup {
 public:
  struct Options {
    std::string log_dir;  ///< Gets worker-2.log; empty: none are written.
    bool echo = true;
  };
  struct End {
    Member who;
    pid_t pid = -1;
    ProcessEnd end;
  };
  struct Started {
    Member who;
    pid_t pid = -1;
  };

  ChildGroup(Options options, Console& console) : options_(std::move(options)), console_(console) {}

  /// Throws `MissingBackendError` when the executable is not there.
  /// `network_namespace` as for `Process`.
  void Start(const MemberSetup& setup, int network_namespace = -1);
  /// Moves logs and reaps, waiting at most `wait` for something to happen there or on `fd`.
  void Poll(std::chrono::milliseconds wait, int fd);
  /// Those that have ended since the last call.
  std::vector<End> TakeEnds();
  bool all_ended() const;
  std::vector<Started> started() const;

  /// SIGTERM to all, SIGKILL to those that are left after `grace`; returns when all are reaped.
  void EndAll(std::chrono::milliseconds grace);

 private:
  struct Child {
    Child(const MemberSetup& setup, const Process::Options& process_options,
          const std::string& log_path, Console& console, bool echo);

    Member who;
    Process process;
    LogPump log;
    bool end_taken = false;
  };

  void WaitForInput(std::chrono::milliseconds wait, int fd) const;
  void SignalAll(int signal) const;

  const Options options_;
  Console& console_;
  std::vector<std::unique_ptr<Child>> children_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_CHILD_GROUP_H_
