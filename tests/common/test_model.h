#ifndef RINGSIDE_TESTS_COMMON_TEST_MODEL_H_
#define RINGSIDE_TESTS_COMMON_TEST_MODEL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ringside/common/training/bucket_tracker.h"
#include "ringside/common/training/model.h"

namespace ringside {

struct TestModelOptions {
  std::size_t inputs = 6;
  std::size_t hidden = 8;
  std::size_t classes = 3;
  std::uint64_t seed = 1;
  /// Initial parameters are small integers and so is the gradient of a sample, whatever the
  /// parameters: it depends on the label alone. With a `gradient_scale` and a learning rate that
  /// are powers of two, sums are exact in any order and results can be compared bitwise.
  bool integer_gradients = false;
  /// `Buffers()` is a running mean of the inputs (momentum 0.5), as batch normalisation has.
  bool running_mean = false;
};

/// A perceptron with one hidden layer (tanh) and softmax cross-entropy, written in plain loops, so
/// that code around a model can be tested without libtorch. Four tensors: output
/// bias, output weight, hidden bias, hidden weight. Awaits layer by layer in the forward pass and
/// submits tensor by tensor in the backward pass.
class TestModel : public Model {
 public:
  explicit TestModel(const TestModelOptions& options);

  std::span<const TensorSpec> Tensors() const override { return tensors_; }
  void Bind(FlatSpace& space, const BucketPlan& plan) override;
  double ForwardBackward(const Batch& batch, Strategy& strategy) override;
  Evaluation Evaluate(const Batch& batch) override;
  std::span<float> Buffers() override { return buffers_; }

 private:
  enum Tensor { kOutputBias, kOutputWeight, kHiddenBias, kHiddenWeight };

  std::span<float> Params(Tensor tensor) const;
  std::span<float> Grads(Tensor tensor) const;
  void ForwardHidden(const Batch& batch);
  void ForwardOutput(const Batch& batch);
  double LossAndDelta(const Batch& batch);
  void BackwardOutput(const Batch& batch);
  void BackwardHidden(const Batch& batch);
  void IntegerGradient(const Batch& batch, Tensor tensor);
  void UpdateRunningMean(const Batch& batch);

  const TestModelOptions options_;
  std::vector<TensorSpec> tensors_;
  std::vector<float> buffers_;
  const FlatSpace* space_ = nullptr;
  const BucketPlan* plan_ = nullptr;
  std::optional<BucketTracker> tracker_;
  std::vector<float> hidden_;  // samples x hidden, after tanh
  std::vector<float> output_;  // samples x classes: logits, then the loss's derivative
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_TEST_MODEL_H_
