#ifndef RINGSIDE_MODELS_TORCH_NETWORK_STATE_H_
#define RINGSIDE_MODELS_TORCH_NETWORK_STATE_H_

// Private to the .cc files of this folder.

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/training/bucket_tracker.h"

namespace ringside {

/// The initial values of a parameter.
struct Initial {
  enum class Kind {
    kUniform,   ///< Uniform in [-value, value).
    kConstant,  ///< All elements equal `value`.
  };
  Kind kind = Kind::kConstant;
  double value = 0;
};

/// The parameters of a network, as views of a flat space, and its buffers, as views of a separate
/// vector. Layers declare them when they are made, in the order in which the forward pass reads
/// them, and keep the index that they get.
///
/// The flat order is the reverse order of declaration. The backward pass finishes parameters in
/// that order: autograd runs the latest nodes first, and a layer that declares (bias, weight) gets
/// the gradients in the order (weight, bias).
///
/// One thread.
class NetworkState {
 public:
  /// Adds a parameter and returns its index.
  int AddParameter(std::string name, std::vector<std::int64_t> sizes, const Initial& initial);
  /// Adds a buffer of `elements` floats, all equal to `value`, and returns its index.
  int AddBuffer(std::size_t elements, float value);

  /// The tensors in flat order.
  std::vector<TensorSpec> Specs() const;
  /// Makes the views and writes the initial values. They depend only on the seed: our own generator
  /// draws them in the order of declaration.
  void Bind(FlatSpace& space, const BucketPlan& plan, std::uint64_t seed);

  /// Call this before a forward pass that trains. Reads then await their buckets in `tracker`.
  /// Null: reads do not wait.
  void set_tracker(BucketTracker* tracker) { tracker_ = tracker; }

  int parameters() const { return static_cast<int>(parameters_.size()); }
  /// The parameter for use in a forward pass: a leaf of the autograd graph.
  const at::Tensor& Read(int parameter) const;
  /// The same, without waiting.
  const at::Tensor& value(int parameter) const { return At(parameter).value; }
  /// Where the gradient of a parameter belongs.
  const at::Tensor& grad(int parameter) const { return At(parameter).grad; }
  /// Index of a parameter in flat order.
  int flat_index(int parameter) const { return parameters() - 1 - parameter; }

  const at::Tensor& buffer(int index) const { return buffers_[static_cast<std::size_t>(index)]; }
  /// All buffers, one after the other.
  std::span<float> buffers() { return buffer_values_; }

 private:
  struct Parameter {
    std::string name;
    std::vector<std::int64_t> sizes;
    Initial initial;
    at::Tensor value;
    at::Tensor grad;
  };

  const Parameter& At(int index) const { return parameters_[static_cast<std::size_t>(index)]; }

  std::vector<Parameter> parameters_;
  std::vector<std::size_t> buffer_sizes_;
  std::vector<float> buffer_values_;
  std::vector<at::Tensor> buffers_;
  BucketTracker* tracker_ = nullptr;
};

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TORCH_NETWORK_STATE_H_
