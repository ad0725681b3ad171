#ifndef RINGSIDE_MODELS_CUDA_MATH_DEVICE_MATH_H_
#define RINGSIDE_MODELS_CUDA_MATH_DEVICE_MATH_H_

// Private to models/cuda.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "ringside/common/optim/adam.h"

namespace ringside {

/// The arithmetic of a network on one stream of the current GPU. Matrices are row-major: [n, in]
/// has n rows. All pointers are addresses on the GPU. All calls return at once; the stream does the
/// work later, in order. Throws `DeviceMathError`.
///
/// Its library is loaded beside that of the model, so that tests without a GPU replace it alone.
class DeviceMath {
 public:
  /// Borrows the stream. The current GPU must be that of the stream in every call.
  explicit DeviceMath(cudaStream_t stream);
  ~DeviceMath();
  DeviceMath(const DeviceMath&) = delete;
  DeviceMath& operator=(const DeviceMath&) = delete;

  struct Shape {
    std::size_t samples;
    std::size_t inputs;
    std::size_t outputs;
  };

  /// y [samples, outputs] = x [samples, inputs] w^T + b, where w is [outputs, inputs]; then
  /// negative values become 0 if `relu`.
  void Linear(const Shape& shape, const float* x, const float* w, const float* b, float* y,
              bool relu);
  /// The gradients of w and b, from the gradient dy of y: dw = dy^T x, db = the column sums of dy.
  /// `ones` holds `samples` times 1.
  void LinearGradients(const Shape& shape, const float* x, const float* dy, const float* ones,
                       float* dw, float* db);
  /// The gradient of x: dx = dy w; 0 where x is not positive if `relu`, since x was the result of
  /// one.
  void LinearInputGradient(const Shape& shape, const float* dy, const float* w, const float* x,
                           float* dx, bool relu);

  /// Softmax and cross-entropy of logits [samples, classes]. `losses` gets the loss of each sample.
  /// `hits` gets 1 for a sample whose largest logit is that of its label, the first one if several
  /// are equal, else 0; it may be null. `gradient` gets `scale` x the gradient of the sum of the
  /// losses; null: none is wanted.
  void CrossEntropy(std::size_t samples, std::size_t classes, const float* logits,
                    const std::int64_t* labels, float scale, float* losses, std::int32_t* hits,
                    float* gradient);
  /// loss = the sum of the losses, in an order that depends on their number alone; hit_count = the
  /// sum of the hits, untouched where `hits` is null.
  void Sum(std::size_t samples, const float* losses, const std::int32_t* hits, double* loss,
           std::int64_t* hit_count);
  void Fill(float* values, std::size_t size, float value);

  struct SgdScalars {
    float rate;
    float momentum;
    float weight_decay;
    float scale;  ///< Of gradients.
    bool nesterov;
  };
  /// Updates parameters as `Sgd` does (common/optim/sgd.h); `velocity` is null without momentum.
  /// `largest` gets the largest `MagnitudeBits` of the gradients, if it is larger than what it has.
  /// A parameter whose gradient is not finite keeps its value and its state.
  void Sgd(float* params, const float* grads, float* velocity, std::size_t size,
           const SgdScalars& scalars, std::uint32_t* largest);
  /// The same as `Adam` does (common/optim/adam.h).
  void Adam(float* params, const float* grads, float* first, float* second, std::size_t size,
            const AdamScalars& scalars, std::uint32_t* largest);
  /// `largest` gets the largest `MagnitudeBits` of the values, if it is larger than what it has.
  void LargestMagnitude(const float* values, std::size_t size, std::uint32_t* largest);

 private:
  struct State;
  State* state_;
};

/// A call of cuBLAS or CUDA that returned an error.
class DeviceMathError : public std::exception {
 public:
  explicit DeviceMathError(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

}  // namespace ringside

#endif  // RINGSIDE_MODELS_CUDA_MATH_DEVICE_MATH_H_
