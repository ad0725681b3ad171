#ifndef RINGSIDE_MODELS_CUDA_DEVICE_CUDA_NETWORK_H_
#define RINGSIDE_MODELS_CUDA_DEVICE_CUDA_NETWORK_H_

// Private to models/cuda.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/training/bucket_tracker.h"
#include "ringside/common/training/model.h"
#include "ringside/models/cuda/device/cuda_device.h"
#include "ringside/models/cuda/device/cuda_vectors.h"
#include "ringside/models/cuda/math/device_math.h"

namespace ringside {

/// Trains a network of linear layers with ReLU between them on a GPU, in fp32.
///
/// A step. The host puts the forward pass on a stream, layer by layer, each after its buckets were
/// awaited, and then the whole backward pass, without waiting for any of it. An event follows the
/// forward pass, and one the gradient of each bucket. Then the host waits for these events, one
/// after the other, and submits each bucket when its gradient is there, while the GPU computes the
/// next one. So strategies get buckets at the same moment as from a model on the CPU. What reads a
/// bucket's parameters may still be under way then: an update on the GPU waits for another event
/// (`CudaVectors::ParamsRead`). The step ends with the last event; the device itself is never
/// synchronised.
class CudaNetwork : public Model {
 public:
  /// Throws `ConfigError` that names the layer if it is neither linear nor ReLU, and
  /// `MissingBackendError` without a GPU.
  CudaNetwork(const Network& network, const ModelOptions& options);
  ~CudaNetwork() override;

  std::span<const TensorSpec> Tensors() const override { return tensors_; }
  void Bind(FlatSpace& space, const BucketPlan& plan) override;
  DeviceVectors* device_vectors() override { return vectors_.get(); }
  std::string device_id() const override;
  double ForwardBackward(const Batch& batch, Strategy& strategy) override;
  Evaluation Evaluate(const Batch& batch) override;
  void LetGoOfSpace() override;
  std::optional<DilatedClock::time_point> forward_end() const override { return forward_end_; }

 private:
  struct Layer {
    std::string name;
    std::size_t inputs = 0;
    std::size_t outputs = 0;
    bool relu = false;
    int bias_tensor = 0;    // in flat order
    int weight_tensor = 0;  // in flat order
    std::size_t bias = 0;   // position in the flat vectors
    std::size_t weight = 0;
    DeviceArray<float> output;  // samples x outputs
  };
  /// What a pass leaves in pinned memory.
  struct Sums {
    double loss;
    std::int64_t hits;
  };

  void MakeRoom(std::size_t samples);
  void Upload(const Batch& batch);
  /// Awaits the buckets of each layer first, unless nobody trains.
  void Forward(std::size_t samples, bool training);
  void Backward(std::size_t samples);
  /// Tensors become final in flat order.
  void FinishTensor(int tensor);
  const float* InputOf(std::size_t layer) const;
  DeviceMath::Shape ShapeOf(const Layer& layer, std::size_t samples) const;
  double ContributeNothing();

  const ModelOptions options_;
  CudaDevice device_;
  std::vector<std::unique_ptr<Layer>> layers_;  // in forward order
  std::vector<TensorSpec> tensors_;
  const BucketPlan* plan_ = nullptr;
  FlatSpace* space_ = nullptr;
  std::unique_ptr<CudaVectors> vectors_;
  std::optional<BucketTracker> tracker_;
  std::vector<int> last_tensor_;  // by bucket
  std::optional<DilatedClock::time_point> forward_end_;

  CudaStream stream_;
  DeviceMath math_;
  CudaEvent forward_done_;
  CudaEvent done_;
  std::size_t room_ = 0;  // samples
  PinnedArray<float> inputs_here_;
  PinnedArray<std::int64_t> labels_here_;
  PinnedArray<Sums> sums_here_;
  DeviceArray<float> inputs_;
  DeviceArray<std::int64_t> labels_;
  DeviceArray<float> ones_;
  DeviceArray<float> losses_;
  DeviceArray<std::int32_t> hits_;
  DeviceArray<Sums> sums_;
  DeviceArray<float> gradient_;       // of a layer's output
  DeviceArray<float> next_gradient_;  // of its input
};

}  // namespace ringside

#endif  // RINGSIDE_MODELS_CUDA_DEVICE_CUDA_NETWORK_H_
