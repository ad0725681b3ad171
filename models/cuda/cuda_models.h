#ifndef RINGSIDE_MODELS_CUDA_CUDA_MODELS_H_
#define RINGSIDE_MODELS_CUDA_CUDA_MODELS_H_

#include <memory>
#include <string>
#include <vector>

#include "ringside/common/base/shared_backend.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/strategy/device_vectors.h"
#include "ringside/models/core/model_entry.h"
#include "ringside/models/networks/network.h"

namespace ringside {

/// The functions of libringside_cuda.so, which it exports through `kCudaFunction`.
struct CudaBackend {
  /// Returns why there is no GPU on this machine, and what to do; empty: there is one.
  std::string (*unavailable)();
  /// A model that computes this network on a GPU. Throws `ConfigError` for a layer that it does not
  /// know, and `MissingBackendError` without a GPU.
  std::unique_ptr<Model> (*make_model)(const Network& network, const ModelOptions& options);
  /// The vectors of this space on a GPU: that of the local rank. If there are fewer GPUs than
  /// workers, they share them. Borrows the space, and pins its memory.
  std::unique_ptr<DeviceVectors> (*make_vectors)(const FlatSpace& space, int local_rank);
};
using CudaFunction = const CudaBackend* (*)();
inline constexpr char kCudaFunction[] = "ringside_cuda_backend";

/// Loads the library. Throws `MissingBackendError` when it cannot be loaded or there is no GPU.
const CudaBackend& LoadCuda();
/// Why `LoadCuda` would throw; empty: it would not.
std::string CudaUnavailable();

/// The networks that a GPU computes: "cuda:mlp". They begin with the same parameters as those of
/// `NetworkTable` and see the same samples.
std::vector<ModelEntry> CudaModels();

}  // namespace ringside

#endif  // RINGSIDE_MODELS_CUDA_CUDA_MODELS_H_
