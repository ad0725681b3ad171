#ifndef RINGSIDE_COMMON_TRAINING_FORWARDING_MODEL_H_
#define RINGSIDE_COMMON_TRAINING_FORWARDING_MODEL_H_

#include <utility>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/training/model.h"

namespace ringside {

/// A model that passes every call on to another one. It is the base of models that change one
/// thing. Borrows the inner model.
class ForwardingModel : public Model {
 public:
  explicit ForwardingModel(Model& inner) : inner_(inner) {}

  std::span<const TensorSpec> Tensors() const override { return inner_.Tensors(); }
  void Bind(FlatSpace& space, const BucketPlan& plan) override { inner_.Bind(space, plan); }
  DeviceVectors* device_vectors() override { return inner_.device_vectors(); }
  std::string device_id() const override { return inner_.device_id(); }
  void LetGoOfSpace() override { inner_.LetGoOfSpace(); }
  std::optional<ModelUpdate> Update() const override { return inner_.Update(); }
  std::optional<DilatedClock::time_point> BeginStep(std::int64_t step,
                                                    Strategy& strategy) override {
    return inner_.BeginStep(step, strategy);
  }
  double ForwardBackward(const Batch& batch, Strategy& strategy) override {
    return inner_.ForwardBackward(batch, strategy);
  }
  std::size_t StepSamples(const Batch& batch) const override { return inner_.StepSamples(batch); }
  Evaluation Evaluate(const Batch& batch) override { return inner_.Evaluate(batch); }
  std::span<float> Buffers() override { return inner_.Buffers(); }
  void KeepMemory(FlatSpace space) override { inner_.KeepMemory(std::move(space)); }
  std::optional<DilatedClock::time_point> forward_end() const override {
    return inner_.forward_end();
  }

 protected:
  Model& inner() { return inner_; }

 private:
  Model& inner_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRAINING_FORWARDING_MODEL_H_
