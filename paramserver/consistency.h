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
  std::vector<int> answer{};  ///< Workers whose waiting pushes are answered now, with the newest
                              ///< parameters. May hold the pusher itself.
};

/// Decides when one shard applies and when it answers: the one thing in which synchronous,
/// asynchronous, bounded-staleness and backup-worker servers differ. Bounded staleness answers a
/// fast worker only when a slow one pushes; backup workers apply early and drop the rest: both fit
/// `Verdict`, so neither the shard nor the service changes for them.
///
/// One instance a shard; not thread-safe (the shard's lock guards it).
class Consistency {
 public:
  virtual ~Consistency() = default;

  /// The job begins at this step; returns the version that the shard begins with.
  virtual std::int64_t Start(std::int64_t step) = 0;
  /// `version` is the shard's. Throws `RefusedError`, with nothing changed, for a push that is
  /// repeated, of a wrong step or of a version that never was.
  virtual Verdict OnPush(const PushInfo& push, std::int64_t version) = 0;
  /// The workers whose pushes the waiting ones wait for.
  virtual std::vector<int> Missing() const = 0;
};

/// An update is the sum of all workers' gradients of one step, in rank order; all are answered when
/// it is applied. Version = steps done. `schedule` is borrowed.
std::unique_ptr<Consistency> MakeSynchronous(int workers, const Schedule& schedule);

/// Every push is an update of its own and answered at once. Version = pushes applied. Gradients
/// come scaled by the reciprocal of the *global* batch, so the pushes of N workers together move
/// the parameters as far as one synchronous update does (with plain SGD; momentum and Adam see N
/// small gradients). The learning rate is that of step (version / workers).
std::unique_ptr<Consistency> MakeAsynchronous(int workers, const Schedule& schedule);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_CONSISTENCY_H_
