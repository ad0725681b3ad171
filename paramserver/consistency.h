#ifndef RINGSIDE_PARAMSERVER_CONSISTENCY_H_
#define RINGSIDE_PARAMSERVER_CONSISTENCY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/optim/optimizer.h"
#include "common/optim/schedule.h"

namespace ringside {

/// What a push says of itself.
struct PushInfo {
  int worker = 0;
  std::int64_t step = 0;     ///< 0-based.
  std::int64_t version = 0;  ///< Of the parameters that its gradient was computed from.
};

/// What a shard does about one push, in this order.
struct Verdict {
  bool use_gradient = true;       ///< False: the gradient comes too late and is dropped.
  int order = 0;                  ///< Its place in the sum of the open update.
  std::optional<Update> apply{};  ///< Close the open update, this way.
  float scale = 1;                ///< What its sum is multiplied by before.
  std::vector<int> answer{};  ///< Workers whose waiting pushes are answered now, with the newest
                              ///< parameters. May hold the pusher itself.
};

/// Decides when one shard applies and when it answers: the one thing in which synchronous,
/// asynchronous, bounded-staleness and backup-worker servers differ. All four are two: a shard
/// applies per step or per push.
///
/// One instance a shard; not thread-safe (the shard's lock guards it).
class Consistency {
 public:
  virtual ~Consistency() = default;

  /// The job begins at this step; returns the version that the shard begins with.
  virtual std::int64_t Start(std::int64_t step) = 0;
  /// `version` is the shard's. Throws `RefusedError`, with nothing changed, for a push that is
  /// repeated, of a wrong step or of a version that never was, or that comes while the worker's
  /// push before it waits for its answer.
  virtual Verdict OnPush(const PushInfo& push, std::int64_t version) = 0;
  /// The worker pushes no more until all workers have met for the `meeting`-th time, 1 and up, if
  /// ever: nobody waits for it until then. Returns the workers that are to be answered now.
  virtual std::vector<int> OnRetire(int worker, std::int64_t meeting) {
    (void)worker, (void)meeting;
    return {};
  }
  /// All workers have met that often; all that retired for it go on. Any number of times for one
  /// meeting.
  virtual void OnMeeting(std::int64_t meeting) { (void)meeting; }
  /// The workers whose pushes the waiting ones wait for.
  virtual std::vector<int> Missing() const = 0;
};

/// An update is the sum of the gradients of one step, in rank order; all that have pushed it are
/// answered when it is applied. Version = steps done. `schedule` is borrowed.
///
/// With `backups` b > 0, 0 <= b < workers, a step's update closes when N-b of its N gradients have
/// come, and their sum is scaled by N/(N-b): the average over the samples that came, where workers
/// have equal batches. Gradients of a step that is closed are dropped, and their workers answered
/// at once. (Chen et al., Revisiting distributed synchronous SGD, 2016.)
std::unique_ptr<Consistency> MakeSynchronous(int workers, const Schedule& schedule,
                                             int backups = 0);

struct AsynchronousOptions {
  /// s >= 0: a worker that has pushed c steps is answered when every worker has pushed c-s of them,
  /// so that it reads all updates of steps up to c-s-1. Absent: answered at once. Retired workers
  /// have no say: with uneven numbers of steps it is that of the workers that go on.
  std::optional<std::int64_t> staleness_bound{};
  /// Divide the learning rate of a push by 1 + its staleness in updates.
  bool staleness_lr = false;
};

/// Every push is an update of its own. Version = pushes applied. Gradients come scaled by the
/// reciprocal of the *global* batch, so the pushes of N workers together move the parameters as far
/// as one synchronous update does (with plain SGD; momentum and Adam see N small gradients). The
/// learning rate is that of step (version / workers).
///
/// The bound is that of stale synchronous parallel (Ho et al., 2013), the divided learning rate
/// follows Zhang et al. (Staleness-aware async-SGD, 2016), who divide by the staleness itself.
/// `schedule` is borrowed.
std::unique_ptr<Consistency> MakeAsynchronous(int workers, const Schedule& schedule,
                                              const AsynchronousOptions& options = {});

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_CONSISTENCY_H_
