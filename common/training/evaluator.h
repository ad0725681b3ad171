#ifndef RINGSIDE_COMMON_TRAINING_EVALUATOR_H_
#define RINGSIDE_COMMON_TRAINING_EVALUATOR_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/core/store.h"
#include "ringside/common/core/world.h"
#include "ringside/common/data/dataset.h"
#include "ringside/common/data/sample_buffer.h"
#include "ringside/common/measure/recorder.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/common/training/model.h"

namespace ringside {

/// The work that the workers do together while training pauses: they average buffers and evaluate
/// on the test split, each on a contiguous part of it. Small sums go through the store, outside the
/// hot path. Part of the trainer. Borrows its arguments. Used by one thread.
///
/// Nobody waits for a worker that the job has lost (`StoreGatherLiving`). The others divide the
/// test split among themselves. Mean and sums leave out what it did not contribute.
///
/// Collective calls throw `CommError` that names the missing worker after `barrier_timeout`,
/// because workers may have drifted apart that far between steps.
class Evaluator {
 public:
  Evaluator(const World& world, Model& model, const Dataset& dataset, Store& store,
            Timeline& timeline, std::chrono::milliseconds barrier_timeout);

  /// False when the test split is empty: there is nothing to evaluate.
  bool enabled() const { return test_samples_ > 0; }

  /// Adds this worker's part of the training loss until the next evaluation.
  void AddTrainingLoss(double loss_sum, std::size_t samples);

  /// Collective: every worker's `Model::Buffers()` become their mean over workers, with the same
  /// bits everywhere. Each call needs a new value of `steps_done`. Buffers of any size are sent in
  /// pieces of 1 MiB. A worker that the job loses meanwhile counts in the pieces that it has sent.
  void AverageBuffers(std::int64_t steps_done);

  /// Collective: returns the same record on every worker. The caller sets `epoch`. `train_seconds`
  /// is this worker's time; the record has the longest of all workers. Throws the same
  /// `DivergedError` on every worker when the test loss is not finite; it names the lowest rank
  /// whose part is not finite.
  EvaluationRecord Evaluate(std::int64_t steps_done, double train_seconds);

 private:
  struct Exchanged;

  /// The contributions of the living workers to the exchange `name`.
  Exchanged Gather(const std::string& name, std::string_view mine);
  /// A piece becomes its mean over workers.
  void Average(const std::string& name, std::span<float> piece);
  /// This worker's part of the test split, which is divided among `living_`.
  Evaluation EvaluateSlice(std::int64_t steps_done);
  Evaluation EvaluateBatch(std::size_t begin, std::size_t end, std::int64_t steps_done);

  const World& world_;
  Model& model_;
  const Dataset& dataset_;
  ExchangeSeries exchanges_;
  Timeline& timeline_;
  std::chrono::milliseconds barrier_timeout_;
  std::size_t test_samples_;
  std::vector<int> living_;  // ranks that the job had not lost at the last exchange, ascending
  double train_loss_sum_ = 0;
  std::int64_t train_samples_ = 0;
  SampleBuffer buffer_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRAINING_EVALUATOR_H_
