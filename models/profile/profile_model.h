#ifndef RINGSIDE_MODELS_PROFILE_PROFILE_MODEL_H_
#define RINGSIDE_MODELS_PROFILE_PROFILE_MODEL_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ringside/common/training/bucket_tracker.h"
#include "ringside/common/training/emulated_compute.h"
#include "ringside/common/training/model.h"
#include "ringside/models/profile/profile.h"

namespace ringside {

/// Emulates the compute of a network on an accelerator. It does no arithmetic, but every tensor has
/// its real size, is awaited before its layer starts and becomes ready on a clock, in backward
/// order. Buckets are really synchronised and updated.
///
/// The clock. A step computes for C = `compute_ms`: forward C/3, backward 2C/3. Layer l takes
/// (C/3) m_l / sum(m) and (2C/3) m_l / sum(m), with m_l the multiply-accumulate operations of its
/// forward pass; a layer's gradients are ready when its backward part ends. Time spent in Await
/// moves everything behind it back (the accelerator stalls); time spent in Submit does not (the
/// accelerator goes on). Deadlines are absolute, so what a sleep lasts too long is not added up,
/// and waiting costs no CPU. C = 0: nothing waits.
///
/// The gradients. Element i of tensor t is w x p((331 t + i) mod 16384), where p is a fixed table
/// of multiples of 2^-20 below 2^-10 and w = samples x gradient_scale, the batch's weight; so the
/// sum over ranks is the same table, and gradients stay the same from step to step. A tensor's
/// gradient is refilled (the all-reduce before overwrote it) before its layer's time is waited for.
///
/// The loss is 1 per sample: a positive constant, as nothing is learned.
class ProfileModel : public Model, public EmulatedCompute {
 public:
  using Clock = std::chrono::steady_clock;

  /// Throws `ConfigError` when `compute_ms` is negative or not finite.
  ProfileModel(const Profile& profile, double compute_ms);

  std::span<const TensorSpec> Tensors() const override { return tensors_; }
  /// Initial parameters are of the size of the gradients and the same for every seed.
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
  Clock::time_point clock_;          // when the emulated compute so far ends
  std::optional<Clock::time_point> forward_end_;
  const FlatSpace* space_ = nullptr;
  const BucketPlan* plan_ = nullptr;
  std::optional<BucketTracker> tracker_;
};

}  // namespace ringside

#endif  // RINGSIDE_MODELS_PROFILE_PROFILE_MODEL_H_
