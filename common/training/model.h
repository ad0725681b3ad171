#ifndef RINGSIDE_COMMON_TRAINING_MODEL_H_
#define RINGSIDE_COMMON_TRAINING_MODEL_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/data/dataset.h"
#include "ringside/common/optim/optimizer.h"
#include "ringside/common/optim/schedule.h"
#include "ringside/common/strategy/device_vectors.h"
#include "ringside/common/strategy/strategy.h"

namespace ringside {

/// Sums over the samples of a batch, so that the results of several ranks can be added.
struct Evaluation {
  double loss_sum = 0;
  std::optional<std::int64_t> correct = {};  ///< Hits; absent where an answer is no class.
  std::int64_t samples = 0;
  /// What else is measured, by name: "mae". The same names in every evaluation of a model.
  std::map<std::string, double> metric_sums = {};
};

/// How the parameters of a model change, where the model decides that and not the run.
struct ModelUpdate {
  /// The model updates its parameters itself, and wants the sums of the gradients. Then the rest
  /// has no meaning.
  bool by_model = false;
  OptimizerOptions optimizer = {};
  std::shared_ptr<const GivenRates> rates = nullptr;  ///< Never null unless `by_model`.
};

/// A model to train. One instance per worker, used by one thread.
class Model {
 public:
  virtual ~Model() = default;

  /// Trainable tensors in the order in which the backward pass finishes them. The same on every
  /// rank.
  virtual std::span<const TensorSpec> Tensors() const = 0;

  /// Makes the model's tensors views of `space`, whose length is that of all tensors together, and
  /// writes their initial values there. These depend only on the seed that the model was made with.
  /// Both arguments must live until the model's last call.
  virtual void Bind(FlatSpace& space, const BucketPlan& plan) = 0;

  /// The vectors on the GPU that this model computes with; null: it computes in host memory. After
  /// `Bind`. The strategy must then be a `DeviceStrategy`.
  virtual DeviceVectors* device_vectors() { return nullptr; }
  /// Names the GPU among those of its machine; empty: the model computes on the CPU.
  virtual std::string device_id() const { return {}; }

  /// Absent: the run's optimizer and its schedule.
  virtual std::optional<ModelUpdate> Update() const { return std::nullopt; }

  /// Called before every step, when it may start and its batch is there. Returns when the model
  /// began to compute, after waiting until it does; nothing ends the training before this step. As
  /// long as it waits it may call `strategy.Await`.
  virtual std::optional<DilatedClock::time_point> BeginStep(std::int64_t /*step*/,
                                                            Strategy& /*strategy*/) {
    return DilatedClock::now();
  }

  /// Forward and backward pass over `batch`. Calls `strategy.Await` before a bucket's parameters
  /// are read, and `strategy.Submit` when its gradient is final. The gradient is that of
  /// `batch.gradient_scale` x (sum of the losses of the samples). An empty batch contributes zero
  /// gradients. Returns the sum of the losses, unscaled.
  virtual double ForwardBackward(const Batch& batch, Strategy& strategy) = 0;

  /// The samples of the last step on this worker, whose losses `ForwardBackward` has summed.
  virtual std::size_t StepSamples(const Batch& batch) const { return batch.samples; }

  /// Returns the loss and the number of hits with the current parameters. Computes no gradients.
  virtual Evaluation Evaluate(const Batch& batch) = 0;

  /// State that training changes but that is not trained (running statistics of batch
  /// normalisation). It is averaged over workers before evaluation and checkpoints. Empty when
  /// there is none.
  virtual std::span<float> Buffers() { return {}; }

  /// The training is over, and with it the strategy. A model whose tensors are used after its own
  /// end keeps the memory that they are views of.
  virtual void KeepMemory(FlatSpace /*space*/) {}

  /// The last call before the space that the model is bound to goes, also after a failure. Nothing
  /// may use the space after it, not even a GPU.
  virtual void LetGoOfSpace() {}

  /// For the timeline: when the forward pass of the last step ended and its backward pass began.
  /// Absent if the model does not record it.
  virtual std::optional<DilatedClock::time_point> forward_end() const { return std::nullopt; }
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRAINING_MODEL_H_
