#include "ringside/models/cuda/device/cuda_device.h"

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "ringside/common/base/errors.h"
#include "ringside/common/strategy/gpu_count.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kLookWithoutPause{2};
constexpr std::chrono::microseconds kPause{20};

}  // namespace

void CheckCuda(cudaError_t code) {
  if (code != cudaSuccess) throw InternalError(std::string("GPU: ") + cudaGetErrorString(code));
}

std::string GpuUnavailable() {
  GpuCount count;
  const cudaError_t code = cudaGetDeviceCount(&count.gpus);
  if (code != cudaSuccess) count.error = cudaGetErrorString(code);
  // They fail only for a null pointer.
  static_cast<void>(cudaDriverGetVersion(&count.driver_version));
  static_cast<void>(cudaRuntimeGetVersion(&count.runtime_version));
  return WhyNoGpu(count);
}

void CheckAllocation(cudaError_t code, std::size_t bytes) {
  if (code == cudaSuccess) return;
  throw InternalError("GPU: an array of " + std::to_string(bytes >> 20) + " MiB: " +
                      cudaGetErrorString(code) + "; give a smaller batch or model, or more GPUs");
}

std::string CudaDevice::id() const {
  std::array<char, 64> text{};
  CheckCuda(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), index_));
  return text.data();
}

CudaDevice::CudaDevice(int local_rank) {
  if (const std::string reason = GpuUnavailable(); !reason.empty())
    throw MissingBackendError(reason);
  int devices = 0;
  CheckCuda(cudaGetDeviceCount(&devices));
  index_ = local_rank % devices;
  MakeCurrent();
}

CudaStream::CudaStream(StreamUse use) {
  int least = 0;
  int greatest = 0;
  CheckCuda(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CheckCuda(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                         use == StreamUse::kBetween ? greatest : least));
}

void CudaEvent::Wait() const {
  const auto patience = std::chrono::steady_clock::now() + kLookWithoutPause;
  for (cudaError_t state; (state = cudaEventQuery(event_)) != cudaSuccess;) {
    if (state != cudaErrorNotReady) CheckCuda(state);
    if (std::chrono::steady_clock::now() > patience) std::this_thread::sleep_for(kPause);
  }
}

}  // namespace ringside
