#include "ringside/models/cuda/cuda_models.h"

#include "ringside/common/base/errors.h"
#include "ringside/models/networks/mlp.h"

namespace ringside {
namespace {

constexpr SharedBackend kCudaLibrary{
    .file = "libringside_cuda.so",
    .remedy =
        "install CUDA with cuBLAS; if libringside_cuda.so itself is missing, this Ringside was "
        "built without it: install the CUDA toolkit with nvcc too and build Ringside again"};

/// Null, and why, when it cannot be loaded or finds no GPU.
const CudaBackend* TryLoad(std::string& reason) {
  void* function = kCudaLibrary.Find(kCudaFunction, reason);
  if (function == nullptr) return nullptr;
  const CudaBackend* backend = reinterpret_cast<CudaFunction>(function)();
  reason = backend->unavailable();
  return reason.empty() ? backend : nullptr;
}

}  // namespace

const CudaBackend& LoadCuda() {
  std::string reason;
  const CudaBackend* backend = TryLoad(reason);
  if (backend == nullptr) throw MissingBackendError(reason);
  return *backend;
}

std::string CudaUnavailable() {
  std::string reason;
  TryLoad(reason);
  return reason;
}

std::vector<ModelEntry> CudaModels() {
  return {{.name = "cuda:mlp",
           .summary = "mlp on a GPU: parameters, gradients and updates in its memory",
           .traits = {.needs_gpu = true, .takes_widths = true},
           .make =
               [](const ModelOptions& options) {
                 return LoadCuda().make_model(MlpNetwork(options), options);
               },
           .tensors = [](const ModelOptions& options) { return TensorsOf(MlpNetwork(options)); },
           .unavailable = CudaUnavailable}};
}

}  // namespace ringside
