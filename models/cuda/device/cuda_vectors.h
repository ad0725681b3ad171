#ifndef RINGSIDE_MODELS_CUDA_DEVICE_CUDA_VECTORS_H_
#define RINGSIDE_MODELS_CUDA_DEVICE_CUDA_VECTORS_H_

// Private to models/cuda.

#include <memory>
#include <mutex>
#include <vector>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/strategy/device_vectors.h"
#include "ringside/models/cuda/device/cuda_device.h"
#include "ringside/models/cuda/math/device_math.h"

namespace ringside {

/// `DeviceVectors` by CUDA. Copies of parameters, and of gradients to the host, have streams of
/// their own, so that none waits for the model's.
class CudaVectors : public DeviceVectors {
 public:
  /// Borrows both. Pins the memory of the space.
  CudaVectors(const FlatSpace& space, const CudaDevice& device);
  ~CudaVectors() override;
  CudaVectors(const CudaVectors&) = delete;
  CudaVectors& operator=(const CudaVectors&) = delete;

  std::span<float> params() const override { return {params_.data(), space_.size()}; }
  std::span<float> grads() const override { return {grads_.data(), space_.size()}; }
  void CopyToDevice(FlatVector vector, std::size_t offset, std::size_t size) override;
  void CopyToHost(FlatVector vector) override;
  void HostMemoryMoved() override;
  void SetGradientsToHost(bool to_host) override { gradients_to_host_ = to_host; }
  bool GradientsAreFinite(int bucket) const override;
  std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerOptions& options) override;

  /// Lets `stream` wait until the model has read the parameters of the bucket at this place for the
  /// last time in its step: an update must not come before.
  void HoldUntilRead(std::size_t offset, const CudaStream& stream) const;
  /// Whether this gradient lies in the vector on the GPU.
  bool OnDevice(std::span<const float> grads) const {
    return grads.data() >= grads_.data() && grads.data() < grads_.data() + space_.size();
  }

  // For the model, on its thread.

  /// Makes room for the events of this plan, and borrows it.
  void Prepare(const BucketPlan& plan);
  /// The work that `stream` has now ends with this bucket's gradient. Copies it to the host, if
  /// somebody needs it there, while the stream goes on; else looks at it. `math` works on `stream`.
  void GradientWritten(int bucket, const BucketPlan::Range& range, const CudaStream& stream,
                       DeviceMath& math);
  /// The work that `stream` has now has the last operation that reads this bucket's parameters in
  /// this step. Before any bucket of the step is submitted.
  void ParamsRead(int bucket, const CudaStream& stream) {
    read_[static_cast<std::size_t>(bucket)].Record(stream);
  }
  /// Waits until it is written, and copied.
  void WaitForGradient(int bucket) const { written_[static_cast<std::size_t>(bucket)].Wait(); }

 private:
  /// The two copies of a vector.
  struct Pair {
    float* host;
    float* device;
  };
  Pair Of(FlatVector vector) const;
  void Pin() const;

  const FlatSpace& space_;
  const CudaDevice& device_;
  std::byte* const pinned_;  // the memory of the space, which may be gone before this
  DeviceArray<float> params_;
  DeviceArray<float> grads_;
  bool gradients_to_host_ = false;
  CudaStream to_host_;
  const BucketPlan* plan_ = nullptr;
  // By bucket: its gradient is there; its parameters are read; the largest magnitude of its
  // gradients, as bits.
  std::vector<CudaEvent> written_;
  std::vector<CudaEvent> read_;
  DeviceArray<std::uint32_t> largest_;
  PinnedArray<std::uint32_t> largest_here_;

  std::mutex mutex_;  // of everything below
  CudaStream stream_;
  CudaEvent done_;
};

}  // namespace ringside

#endif  // RINGSIDE_MODELS_CUDA_DEVICE_CUDA_VECTORS_H_
