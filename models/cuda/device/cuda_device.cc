#include "ringside/models/cuda/device/cuda_device.h"

#include <chrono>
#include <string>
#include <thread>

#include "ringside/common/core/errors.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kLookWithoutPause{2};
constexpr std::chrono::microseconds kPause{20};

}  // namespace

void CheckCuda(cudaError_t code) {
  if (code != cudaSuccess) throw InternalError(std::string("GPU: ") + cudaGetErrorString(code));
}

std::string WhyNoGpu() {
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  if (code == cudaSuccess && devices > 0) return {};
  return "no GPU is found here (" +
         std::string(code == cudaSuccess ? "CUDA counts 0" : cudaGetErrorString(code)) +
         "); a cuda: model needs one, and its driver";
}

CudaDevice::CudaDevice(const GpuChoice& choice) {
  if (const std::string reason = WhyNoGpu(); !reason.empty()) throw MissingBackendError(reason);
  int devices = 0;
  CheckCuda(cudaGetDeviceCount(&devices));
  index_ = choice.local_rank % devices;
  shared_ = choice.local_workers > devices;
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
