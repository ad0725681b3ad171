#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_ORPHAN_WATCH_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_ORPHAN_WATCH_H_

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

namespace ringside {

/// Finds what processes leave behind that have left their process group, by `setsid` for instance.
/// The group's signals do not reach those. While any watch exists, this process inherits the
/// orphans among its descendants (`PR_SET_CHILD_SUBREAPER`). Those of a watch have its mark in
/// their environment. A program may clear its environment, so a watch that is the only one also
/// takes every inherited process of another session. It does not where others may leave such ones
/// to this process: in process 1 of a container, or when it has some before the watch. Nothing is
/// found after this process was killed. Used by one thread.
class OrphanWatch {
 public:
  OrphanWatch();
  /// Does not kill. Restores what this process inherits.
  ~OrphanWatch();
  OrphanWatch(const OrphanWatch&) = delete;
  OrphanWatch& operator=(const OrphanWatch&) = delete;

  /// "RINGSIDE_RUN_4711_12345=1": a variable for the environment of every process that this watch
  /// is for (`Process::Options::environment`).
  const std::string& mark() const { return mark_; }
  /// Kills and reaps the orphans, and then theirs. Call this when the processes with the mark that
  /// this process started itself have been reaped, because it would take these for orphans. Returns
  /// the processes that were killed.
  std::vector<pid_t> KillAll() const;
  /// Reaps orphans that have ended by themselves. Otherwise a run that leaves some behind in every
  /// step fills the table of processes. `started` has the processes with the mark that this process
  /// started itself, which it reaps elsewhere. An ended process has no environment, so the mark
  /// tells nothing: taken are those in the group of a started process, and those of another session
  /// where the watch takes processes without the mark.
  void ReapEnded(std::span<const pid_t> started) const;

 private:
  bool TakesUnmarked() const;
  std::vector<pid_t> Orphans() const;

  const std::string mark_;
  bool takes_unmarked_ = false;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_ORPHAN_WATCH_H_
