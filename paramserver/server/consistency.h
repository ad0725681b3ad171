#ifndef RINGSIDE_PARAMSERVER_SERVER_CONSISTENCY_H_
#define RINGSIDE_PARAMSERVER_SERVER_CONSISTENCY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ringside/common/optim/optimizer.h"
#include "ringside/common/optim/schedule.h"

namespace ringside {

/// Identifies one push.
struct PushInfo {
  int worker = 0;
  std::int64_t step = 0;     ///< 0-based.
  std::int64_t version = 0;  ///< The version of the parameters that its gradient was computed from.
  /// Of its update, >= 0; absent: the schedule decides. Workers that push to one update have the
  /// same.
  std::optional<double> learning_rate = {};
  /// How often its worker has sent it before, over connections that were lost. If not 0, it may be
  /// in use already.
  std::uint8_t repeats = 0;
};

/// What a shard does with one push. The members are in the order of the actions.
struct PushDecision {
  bool use_gradient = true;       ///< False: the gradient comes too late and is dropped.
  int order = 0;                  ///< The gradient's position in the sum of the open update.
  std::optional<Update> apply{};  ///< If present, apply the open update with these values.
  float scale = 1;                ///< First multiply the sum by this factor.
  /// The workers whose waiting pushes are answered now, with the newest parameters. The worker that
  /// pushed may be one of them. Valid until the next call of the consistency.
  std::span<const int> answer{};
};

/// Decides when one shard applies gradients and when it answers pushes. Synchronous, asynchronous,
/// bounded-staleness and backup-worker servers differ only in this. A shard applies either all
/// pushes of a step together or every push by itself.
///
/// Each shard has its own instance. Not thread-safe: the lock of the shard guards it.
class Consistency {
 public:
  virtual ~Consistency() = default;

  /// Starts the job at this step. Returns the version that the shard begins with.
  virtual std::int64_t Start(std::int64_t step) = 0;
  /// `version` is that of the shard. Throws `RefusedError` and changes nothing for a push that is
  /// repeated, has a wrong step or a version that never existed, or comes while an earlier push of
  /// the worker waits for its answer.
  virtual PushDecision OnPush(const PushInfo& push, std::int64_t version) = 0;
  /// The worker will not push again until all workers have reached barrier number `barrier` (1 and
  /// up), which may never happen. Until then no other worker waits for its pushes. Returns the
  /// workers that must be answered now; the span is valid until the next call. Does nothing after
  /// that barrier: the call was delayed, and its worker has made it again since.
  virtual std::span<const int> OnRetire(int worker, std::int64_t barrier) {
    (void)worker, (void)barrier;
    return {};
  }
  /// All workers have reached barrier number `barrier`. So workers that retired until then push
  /// again. It may be called several times for one barrier.
  virtual void OnBarrier(std::int64_t barrier) { (void)barrier; }
  /// The job goes on without this worker: nobody waits for it, and its pushes are refused
  /// (`kDropped`). Its gradient in the open update stays there. Of the decision only `apply`,
  /// `scale` and `answer` count: the open update may be complete now. Idempotent. Called only where
  /// `ConsistencyEntry::drops_workers` is set.
  virtual PushDecision OnDrop(int worker) {
    (void)worker;
    return {};
  }
  /// The workers whose missing pushes keep other workers waiting.
  virtual std::vector<int> Missing() const = 0;
};

/// Synchronous: an update is the sum of one step's gradients, in rank order. When it is applied,
/// all workers that pushed it are answered. The version is the number of steps done. `schedule` is
/// borrowed.
///
/// With `backups` b, 0 <= b < workers, an update is applied when N-b of the N gradients of its step
/// have come. Their sum is multiplied by N/(N-b). If workers have equal batches, this is the
/// average over the samples that came. Later gradients of the step are dropped, and their workers
/// are answered immediately. (Chen et al., Revisiting distributed synchronous SGD, 2016.)
///
/// After workers were dropped, an update is applied when min(N-b, L) of the L others have pushed.
/// Its sum is multiplied by N/(number of gradients in it).
std::unique_ptr<Consistency> MakeSynchronous(int workers, const Schedule& schedule,
                                             int backups = 0);

struct AsynchronousOptions {
  /// The bound s >= 0: a worker that has pushed c steps is answered when every worker has pushed
  /// c-s steps. So it reads all updates of steps up to c-s-1. Absent: workers are answered
  /// immediately. Retired workers do not count: with uneven numbers of steps the others continue
  /// without them.
  std::optional<std::int64_t> staleness_bound{};
  /// Divides the learning rate of a push by 1 + its staleness in updates.
  bool staleness_lr = false;
};

/// Asynchronous: every push is an update of its own. The version is the number of pushes applied.
/// Gradients are scaled by 1 / (*global* batch). So with plain SGD, the pushes of N workers
/// together move the parameters as far as one synchronous update. Momentum and Adam see N small
/// gradients. The learning rate is that of step (version / workers).
///
/// The bound is that of stale synchronous parallel (Ho et al., 2013). The divided learning rate
/// follows Zhang et al. (Staleness-aware async-SGD, 2016), who divide by the staleness itself.
/// `schedule` is borrowed.
std::unique_ptr<Consistency> MakeAsynchronous(int workers, const Schedule& schedule,
                                              const AsynchronousOptions& options = {});

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SERVER_CONSISTENCY_H_
