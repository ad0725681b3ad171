#ifndef RINGSIDE_EXPERIMENTS_PROGRAM_PROGRAM_MODEL_H_
#define RINGSIDE_EXPERIMENTS_PROGRAM_PROGRAM_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "ringside/common/training/model.h"
#include "ringside/experiments/program/step_handover.h"

namespace ringside {

/// The model of a worker inside of a user's program: the program computes, on its own thread. Used
/// by the training thread. Throws `ProgramError` when the program fails. Borrows the handover.
class ProgramModel : public Model {
 public:
  explicit ProgramModel(StepHandover& handover) : handover_(handover) {}

  std::span<const TensorSpec> Tensors() const override { return handover_.WaitForTensors(); }
  std::optional<ModelUpdate> Update() const override { return handover_.update(); }
  void Bind(FlatSpace& space, const BucketPlan& plan) override {
    handover_.LendMemory(space, plan);
  }
  std::optional<DilatedClock::time_point> BeginStep(std::int64_t step,
                                                    Strategy& strategy) override {
    return handover_.WaitForBegin(step, strategy);
  }
  double ForwardBackward(const Batch& /*batch*/, Strategy& strategy) override {
    result_ = handover_.WaitForStep(strategy);
    return result_.loss_sum;
  }
  std::size_t StepSamples(const Batch& /*batch*/) const override { return result_.samples; }
  /// Never called: there is no test split.
  Evaluation Evaluate(const Batch& /*batch*/) override { return {}; }
  void KeepMemory(FlatSpace space) override { handover_.KeepMemory(std::move(space)); }
  std::optional<DilatedClock::time_point> forward_end() const override {
    return result_.forward_end;
  }

 private:
  StepHandover& handover_;
  StepHandover::StepResult result_;  // of the last step
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_PROGRAM_PROGRAM_MODEL_H_
