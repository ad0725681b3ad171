#ifndef RINGSIDE_EXPERIMENTS_WORKER_CHECKPOINTS_H_
#define RINGSIDE_EXPERIMENTS_WORKER_CHECKPOINTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/core/flat_space.h"
#include "ringside/common/core/store.h"
#include "ringside/common/measure/recorder.h"
#include "ringside/common/optim/optimizer.h"
#include "ringside/common/strategy/strategy.h"
#include "ringside/common/training/model.h"
#include "ringside/experiments/checkpoint/checkpoint.h"
#include "ringside/experiments/job/processes/member_setup.h"

namespace ringside {

/// What one worker does with the checkpoints of its job: reads the one that the run resumes from,
/// and takes part in writing new ones. Worker 0 writes the parameters, the optimizer's state and
/// all state that workers share. Every worker writes what it alone knows. Borrows everything.
class Checkpoints {
 public:
  struct Parts {
    const MemberSetup& setup;
    Store& store;
    Model& model;  ///< Already bound to `space`.
    FlatSpace& space;
    std::size_t optimizer_state_size = 0;  ///< `Optimizer::state_size`.
    Recorder& recorder;
    std::int64_t total_steps = 0;
    std::int64_t steps_per_epoch = 1;
    std::int64_t samples = 0;  ///< `CheckpointInfo::samples`.
  };

  explicit Checkpoints(const Parts& parts)
      : parts_(parts), exchanges_(parts.store, parts.setup.world) {}

  /// Collective, before the strategy starts, if the run resumes. Puts the parameters and buffers of
  /// the checkpoint in place. Where `MemberSetup::resume` is a folder, all workers take the newest
  /// checkpoint that each of them can read whole, and a note says which ones were left out. Throws
  /// `DataError` when the file is damaged, or `ConfigError` when it does not fit this run. A later
  /// generation without a whole checkpoint of its run begins where the run began.
  void Resume();

  /// The step of the checkpoint, and its optimizer state. Valid as long as this lives.
  StartPoint start() const;
  /// What the strategy had remembered; null for a fresh start.
  const SavedState* saved_state() const { return loaded_ ? &loaded_->content.state : nullptr; }

  /// Collective and settled: writes the checkpoint of these steps and removes older ones. Returns
  /// once all is written; nobody waits for a worker that the job has lost. Throws `DataError` where
  /// this worker cannot write its file, and `CommError` that names a worker which does not come
  /// within `CommOptions::barrier_timeout`. The activity board shows who writes and who waits.
  void Save(Strategy& strategy, std::int64_t steps_done);

 private:
  struct Loaded {
    std::int64_t steps_done = 0;
    Checkpoint content;
  };

  /// `name` is that of the exchange.
  std::optional<Loaded> Take(const std::string& from, const std::string& name);
  Loaded Load(const std::string& path) const;
  void CheckIsSameRun(const CheckpointFile& file) const;
  /// Of the folder: the newest checkpoint up to step `limit` that is whole. Appends the others to
  /// `problems`.
  std::optional<Loaded> NewestWhole(const std::string& folder, std::int64_t limit,
                                    std::vector<std::string>& problems) const;
  /// Nothing: no checkpoint is whole, and a later generation may begin anew.
  std::optional<Loaded> AgreeOnNewest(const std::string& folder, const std::string& name);
  void NoteProblems(const std::vector<std::string>& mine, const std::string& name);
  /// Of worker 0: writes the file of the whole job, and removes older checkpoints.
  void WriteJobFile(const std::string& path, const CheckpointInfo& info,
                    std::span<const float> optimizer, std::span<const StateVector> shared,
                    std::span<const std::string> worker_parts);
  CheckpointInfo InfoAt(std::int64_t steps_done) const;

  const Parts parts_;
  ExchangeSeries exchanges_;  // two for each checkpoint: what the workers wrote; all is written
  std::optional<Loaded> loaded_;
  bool saved_ = false;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_CHECKPOINTS_H_
