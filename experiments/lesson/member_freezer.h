#ifndef RINGSIDE_EXPERIMENTS_LESSON_MEMBER_FREEZER_H_
#define RINGSIDE_EXPERIMENTS_LESSON_MEMBER_FREEZER_H_

#include <sys/types.h>

#include <string>

namespace ringside {

/// Stops one process of a run (SIGSTOP) once the run has a checkpoint. It reads the bundle of the
/// run, and signals only a child of the run's launcher. Not thread-safe.
class MemberFreezer {
 public:
  /// `member` is "server 0"; empty: `Tick` does nothing.
  MemberFreezer(std::string member, std::string bundle, pid_t launcher)
      : member_(std::move(member)), bundle_(std::move(bundle)), launcher_(launcher) {}

  /// Call it some times a second. It never waits.
  void Tick();
  /// The line that does the same by hand; empty as long as nothing was stopped.
  const std::string& command() const { return command_; }

 private:
  /// 0: it is not known yet.
  pid_t Find() const;

  const std::string member_;
  const std::string bundle_;
  const pid_t launcher_;
  std::string command_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LESSON_MEMBER_FREEZER_H_
