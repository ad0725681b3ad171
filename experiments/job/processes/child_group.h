#ifndef RINGSIDE_EXPERIMENTS_JOB_PROCESSES_CHILD_GROUP_H_
#define RINGSIDE_EXPERIMENTS_JOB_PROCESSES_CHILD_GROUP_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/experiments/job/coordinator/member.h"
#include "ringside/experiments/job/processes/member_setup.h"
#include "ringside/experiments/system/files/file_writer.h"
#include "ringside/experiments/system/output/console.h"
#include "ringside/experiments/system/output/log_forwarder.h"
#include "ringside/experiments/system/processes/death_watch.h"
#include "ringside/experiments/system/processes/orphan_watch.h"
#include "ringside/experiments/system/processes/process.h"

namespace ringside {

/// The kind of failure of a process that ended like this, if that was a failure.
FailureKind KindOfEnd(const ProcessEnd& end);

/// The worker and server processes that one launcher or agent has started, with their logs. Used by
/// one thread; the children die with that thread. The destructor kills and reaps them all. `EndAll`
/// also kills what they leave behind, and so does a `DeathWatch` when this process is killed.
class ChildGroup {
 public:
  struct Options {
    std::string log_dir;  ///< For worker-2.log; empty: no logs.
    bool echo = true;
    std::string program = ThisExecutable();  ///< It has the members' hidden verbs.
  };
  struct End {
    Member who;
    pid_t pid = -1;
    ProcessEnd end;
    std::string last_line{};  ///< Of its output, as it wrote it.

    /// The last line of a process that gave up, which may say why: `Printable`, and UTF-8. Empty
    /// for one that somebody else killed.
    std::string LastWord() const;
  };
  struct Started {
    Member who;
    pid_t pid = -1;
  };

  ChildGroup(Options options, Console& console) : options_(std::move(options)), console_(console) {}

  /// Starts a member; a worker of a spec with a program is that program. Throws
  /// `MissingBackendError` when the executable is missing, `ResourceError` when there is no
  /// process. `network_namespace` is as for `Process`.
  void Start(const MemberSetup& setup, int network_namespace = -1);
  /// Forwards logs and reaps children, and what they left behind and has ended. Waits at most
  /// `wait` for an event there or on `fd`, and not for the disk of the logs.
  void Poll(std::chrono::milliseconds wait, int fd);
  /// Returns the children that have ended since the last call.
  std::vector<End> TakeEnds();
  /// Waits until the logs have all that was forwarded, and says so if one lacks something.
  void DrainLogs();
  bool all_ended() const;
  /// Whether `TakeEnds` has returned all children.
  bool all_ends_taken() const;
  /// The members whose ends `TakeEnds` has not returned.
  std::vector<Member> running() const;
  std::vector<Started> started() const;

  /// Kills this member with SIGKILL, if it is a child that runs. `TakeEnds` tells its end later.
  void Kill(const Member& who);
  /// Sends SIGTERM to all, and SIGKILL to the rest after `grace`. Returns when all are reaped, and
  /// with them the processes that they started and left behind, in other sessions, too.
  void EndAll(std::chrono::milliseconds grace);

 private:
  struct Child {
    Child(const MemberSetup& setup, const Process::Options& process_options,
          const std::string& log_path, FileWriter& writer, Console& console, bool echo);

    Member who;
    Process process;
    LogForwarder log;
    bool end_taken = false;
  };

  void WaitForInput(std::chrono::milliseconds wait, int fd) const;
  void SignalAll(int signal) const;
  void ReapOrphans();

  const Options options_;
  Console& console_;
  const OrphanWatch orphans_;
  Deadline next_reaping_ = Deadline::After({});
  std::optional<DeathWatch> death_watch_;  // from the first start on
  FileWriter log_writer_;
  std::vector<std::unique_ptr<Child>> children_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_PROCESSES_CHILD_GROUP_H_
