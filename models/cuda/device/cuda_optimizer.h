#ifndef RINGSIDE_MODELS_CUDA_DEVICE_CUDA_OPTIMIZER_H_
#define RINGSIDE_MODELS_CUDA_DEVICE_CUDA_OPTIMIZER_H_

// Private to models/cuda.

#include <cstdint>
#include <mutex>

#include "ringside/common/optim/optimizer.h"
#include "ringside/models/cuda/device/cuda_device.h"
#include "ringside/models/cuda/math/device_math.h"

namespace ringside {

class CudaVectors;

/// The optimizers of common/optim on the parameters of a `CudaVectors`, as
/// `DeviceVectors::MakeOptimizer` says. State and updates are on the GPU, on a stream of their own.
class CudaOptimizer : public Optimizer {
 public:
  /// Borrows the vectors and the device. Throws `ConfigError` for options that have no meaning.
  CudaOptimizer(const OptimizerOptions& options, CudaVectors& vectors, std::size_t elements,
                const CudaDevice& device);

  int state_per_parameter() const override;
  void LoadState(std::span<const float> state) override;
  void ReadState(std::span<float> out) override;

 private:
  void ApplySpan(std::size_t offset, std::span<const float> in, std::span<float> out,
                 std::span<const float> grads, const Update& update) override;
  void Enqueue(std::size_t offset, std::size_t size, const Update& update);

  const OptimizerOptions options_;
  CudaVectors& vectors_;
  const CudaDevice& device_;
  std::mutex mutex_;  // one update at a time
  CudaStream stream_{StreamUse::kBetween};
  CudaEvent done_;
  DeviceMath math_;
  DeviceArray<float> state_;
  DeviceArray<std::uint32_t> largest_;
  PinnedArray<std::uint32_t> largest_here_;
};

}  // namespace ringside

#endif  // RINGSIDE_MODELS_CUDA_DEVICE_CUDA_OPTIMIZER_H_
