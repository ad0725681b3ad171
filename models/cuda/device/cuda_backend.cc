// What libringside_cuda.so exports.
#include "ringside/models/cuda/cuda_models.h"
#include "ringside/models/cuda/device/cuda_device.h"
#include "ringside/models/cuda/device/cuda_network.h"
#include "ringside/models/cuda/device/cuda_vectors.h"

namespace ringside {
namespace {

std::unique_ptr<Model> MakeModel(const Network& network, const ModelOptions& options) {
  return std::make_unique<CudaNetwork>(network, options);
}

/// With the device that the vectors borrow.
class OwnedVectors : public DeviceVectors {
 public:
  OwnedVectors(const FlatSpace& space, int local_rank)
      : device_(local_rank), vectors_(space, device_) {}

  std::span<float> params() const override { return vectors_.params(); }
  std::span<float> grads() const override { return vectors_.grads(); }
  void CopyToDevice(FlatVector vector, std::size_t offset, std::size_t size) override {
    vectors_.CopyToDevice(vector, offset, size);
  }
  void CopyToHost(FlatVector vector) override { vectors_.CopyToHost(vector); }
  void HostMemoryMoved() override { vectors_.HostMemoryMoved(); }
  void SetGradientsToHost(bool to_host) override { vectors_.SetGradientsToHost(to_host); }
  bool GradientsAreFinite(int bucket) const override { return vectors_.GradientsAreFinite(bucket); }
  std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerOptions& options) override {
    return vectors_.MakeOptimizer(options);
  }

 private:
  CudaDevice device_;
  CudaVectors vectors_;
};

std::unique_ptr<DeviceVectors> MakeVectors(const FlatSpace& space, int local_rank) {
  return std::make_unique<OwnedVectors>(space, local_rank);
}

constexpr CudaBackend kBackend{
    .unavailable = GpuUnavailable, .make_model = MakeModel, .make_vectors = MakeVectors};

}  // namespace
}  // namespace ringside

// NOLINTNEXTLINE(readability-identifier-naming): an exported C function
extern "C" __attribute__((visibility("default"))) const char* ringside_backend_version() {
  return ringside::BackendVersion();
}

extern "C" __attribute__((visibility("default"))) const ringside::CudaBackend*
ringside_cuda_backend() {
  return &ringside::kBackend;
}
