#ifndef RINGSIDE_MODELS_PROFILE_PROFILE_MODEL_H_
#define RINGSIDE_MODELS_PROFILE_PROFILE_MODEL_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/training/bucket_tracker.h"
#include "ringside/common/training/emulated_compute.h"
#include "ringside/common/training/model.h"
#include "ringside/models/profile/profile.h"

namespace ringside {

/// Emulates the compute of a network on an accelerator. It does no arithmetic. But every tensor has
/// its real size, is awaited before its layer starts, and becomes ready at the right time, in
/// backward order. Buckets are really synchronised and updated.
///
/// The clock. A step computes for C = `compute_ms`: forward C/3, backward 2C/3. Layer l takes (C/3)
/// m_l / sum(m) in the forward pass and (2C/3) m_l / sum(m) in the backward pass, where m_l is the
/// number of multiply-accumulate operations of its forward pass. A layer's gradients are ready when
/// its backward part ends. Time spent in Await delays everything after it, because the accelerator
/// stalls. Time spent in Submit delays nothing, because the accelerator goes on. Deadlines are
/// absolute, so sleeps that last too long do not add up. Waiting costs no CPU. With C = 0 nothing
/// waits.
///
/// The gradients. Element i of tensor t is w x p((331 t + i) mod 16384). Here p is a fixed table of
/// multiples of 2^-20 below 2^-10, and w = samples x gradient_scale is the weight of the batch. So
/// the sum over ranks is the same table, and gradients are the same in every step. The gradient of
/// a tensor is written again before the model waits for the time of its layer, because the last
/// all-reduce has overwritten it.
///
/// The loss is 1 per sample: a positive constant, as nothing is learned.
class ProfileModel : public Model, public EmulatedCompute {
 public:
  using Clock = DilatedClock;

  /// Throws `ConfigError` when `compute_ms` is negative or not finite.
  ProfileModel(const Profile& profile, double compute_ms);

  std::span<const TensorSpec> Tensors() const override { return tensors_; }
  /// Initial parameters are of the same order as the gradients, and equal for every seed.
  void Bind(FlatSpace& space, const BucketPlan& plan) override;
  double ForwardBackward(const Batch& batch, Strategy& strategy) override;
  Evaluation Evaluate(const Batch& batch) override;
  std::optional<Clock::time_point> forward_end() const override { return forward_end_; }
  double step_ms() const override { return compute_ms_; }
  void SlowDown(double factor) override { slowdown_ = factor; }

 private:
  struct Layer {
    Clock::duration forward;
    Clock::duration backward;
    int first_tensor;  // in flat order; the layer's tensors are consecutive
    int end_tensor;
  };

  void AddLayer(const ProfileLayer& layer, double share);
  void Forward();
  void Backward();
  void Compute(Clock::duration duration);
  void FillGradient(int tensor);
  void SetWeight(float weight);

  double compute_ms_;
  double slowdown_ = 1;
  std::vector<TensorSpec> tensors_;  // in flat order
  std::vector<Layer> layers_;        // in backward order
  std::vector<float> pattern_;       // p
  std::vector<float> weighted_;      // w x p
  float weight_ = 0;                 // of `weighted_`
  Clock::time_point clock_;          // when the emulated compute requested so far ends
  std::optional<Clock::time_point> forward_end_;
  const FlatSpace* space_ = nullptr;
  const BucketPlan* plan_ = nullptr;
  std::unique_ptr<BucketTracker> tracker_;  // made by Bind
};

}  // namespace ringside

#endif  // RINGSIDE_MODELS_PROFILE_PROFILE_MODEL_H_
