#ifndef RINGSIDE_COMMON_TRAINING_EMULATED_COMPUTE_H_
#define RINGSIDE_COMMON_TRAINING_EMULATED_COMPUTE_H_

#include "ringside/common/training/model.h"

namespace ringside {

/// The clock of a model that emulates its compute. Such a model implements this besides `Model`.
/// Used by the model's thread.
class EmulatedCompute {
 public:
  virtual ~EmulatedCompute() = default;

  /// The compute of a step without a straggler, forward and backward, in milliseconds. 0: nothing
  /// waits.
  virtual double step_ms() const = 0;
  /// From the next step on, compute takes `factor` times as long, `factor` >= 1.
  virtual void SlowDown(double factor) = 0;
};

/// Returns the clock of a model that emulates its compute; null when the model really computes, or
/// passes its calls on to another one (`ForwardingModel`).
inline EmulatedCompute* EmulatedComputeOf(Model& model) {
  return dynamic_cast<EmulatedCompute*>(&model);
}

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRAINING_EMULATED_COMPUTE_H_
