#ifndef RINGSIDE_COMMON_TRAINING_STRAGGLING_MODEL_H_
#define RINGSIDE_COMMON_TRAINING_STRAGGLING_MODEL_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/measure/recorder.h"
#include "ringside/common/training/emulated_compute.h"
#include "ringside/common/training/forwarding_model.h"

namespace ringside {

/// Reads the time and waits. Tests pass their own clock.
class SlowdownClock {
 public:
  using Clock = DilatedClock;
  virtual ~SlowdownClock() = default;
  virtual Clock::time_point Now() { return Clock::now(); }
  virtual void Sleep(Clock::duration duration);
};

/// Any model on a worker that is slower than it could be. What the inner model computes between two
/// calls of the strategy takes `slowdown` times as long, so gradients are submitted late as well,
/// not only the step ended: a model that emulates its compute stretches its clock; after each piece
/// of a real one this class waits. The wait is part of the compute time, and counted apart in the
/// recorder. Borrows its arguments; used by one thread. `emulated` is the clock of the model that
/// emulates its compute, which `inner` is or passes calls on to; null when it really computes.
class StragglingModel : public ForwardingModel {
 public:
  /// The factor by which a step is slowed, >= 1.
  using SlowdownOf = std::function<double(std::int64_t step)>;

  StragglingModel(Model& inner, EmulatedCompute* emulated, SlowdownOf slowdown, Recorder& recorder,
                  SlowdownClock& clock)
      : ForwardingModel(inner),
        emulated_(emulated),
        slowdown_(std::move(slowdown)),
        recorder_(recorder),
        clock_(clock) {}

  std::optional<DilatedClock::time_point> BeginStep(std::int64_t step, Strategy& strategy) override;
  double ForwardBackward(const Batch& batch, Strategy& strategy) override;

 private:
  EmulatedCompute* const emulated_;
  const SlowdownOf slowdown_;
  Recorder& recorder_;
  SlowdownClock& clock_;
  // Of a step whose begin the model has told: the compute before `ForwardBackward` counts.
  std::optional<DilatedClock::time_point> computing_since_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRAINING_STRAGGLING_MODEL_H_
