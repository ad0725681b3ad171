#ifndef RINGSIDE_COMMON_TRAINING_EMULATED_COMPUTE_H_
#define RINGSIDE_COMMON_TRAINING_EMULATED_COMPUTE_H_

namespace ringside {

/// The clock of a model that emulates its compute: what `Model::emulated_compute` returns. Belongs
/// to the model and is used by the model's thread.
class EmulatedCompute {
 public:
  virtual ~EmulatedCompute() = default;

  /// Compute of a step that nothing slows, forward and backward, in milliseconds. 0: nothing waits.
  virtual double step_ms() const = 0;
  /// Compute takes `factor` times as long from the next step on, `factor` >= 1.
  virtual void SlowDown(double factor) = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRAINING_EMULATED_COMPUTE_H_
