#ifndef RINGSIDE_COMMON_STRAGGLING_MODEL_H_
#define RINGSIDE_COMMON_STRAGGLING_MODEL_H_

#include <chrono>
#include <cstdint>
#include <functional>

#include "common/measure/recorder.h"
#include "common/model.h"

namespace ringside {

/// Where time comes from and is spent; tests have their own.
class StretchClock {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~StretchClock() = default;
  virtual Clock::time_point Now() { return Clock::now(); }
  virtual void Sleep(Clock::duration duration);
};

/// Any model on a worker that is slower than it could be. What the inner model computes between two
/// calls of the strategy takes `slowdown` times as long, so gradients are submitted late as well,
/// not only the step ended: a model that emulates its compute stretches its clock; after each piece
/// of a real one this class waits. The wait is part of the compute time, and counted apart in the
/// recorder. Borrows its arguments; used by one thread.
class StragglingModel : public Model {
 public:
  /// By how much a step is slowed, >= 1.
  using SlowdownOf = std::function<double(std::int64_t step)>;

  StragglingModel(Model& inner, SlowdownOf slowdown, Recorder& recorder, StretchClock& clock)
      : inner_(inner), slowdown_(std::move(slowdown)), recorder_(recorder), clock_(clock) {}

  std::span<const TensorSpec> Tensors() const override { return inner_.Tensors(); }
  void Bind(FlatSpace& space, const BucketPlan& plan) override { inner_.Bind(space, plan); }
  double ForwardBackward(const Batch& batch, Strategy& strategy) override;
  Evaluation Evaluate(const Batch& batch) override { return inner_.Evaluate(batch); }
  std::span<float> Buffers() override { return inner_.Buffers(); }
  double emulated_compute_ms() const override { return inner_.emulated_compute_ms(); }
  std::optional<std::chrono::steady_clock::time_point> forward_end() const override {
    return inner_.forward_end();
  }

 private:
  Model& inner_;
  const SlowdownOf slowdown_;
  Recorder& recorder_;
  StretchClock& clock_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRAGGLING_MODEL_H_
