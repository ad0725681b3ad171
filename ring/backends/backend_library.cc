#include "ringside/ring/backends/backend_library.h"

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

/// Null, and why, when it cannot be loaded.
const CollectiveBackend* TryLoad(const BackendLibrary& library, std::string& reason) {
  void* function = SharedBackend{library.file, library.remedy}.Find(kBackendFunction, reason);
  return function == nullptr ? nullptr : reinterpret_cast<BackendFunction>(function)();
}

}  // namespace

const BackendLibrary kMpiLibrary{
    .file = "libringside_mpi.so",
    .remedy =
        "install OpenMPI 4 (Debian: openmpi-bin); if libringside_mpi.so itself is missing, this "
        "Ringside was built without it: install libopenmpi-dev too and build Ringside again"};

const BackendLibrary kNcclLibrary{
    .file = "libringside_nccl.so",
    .remedy =
        "install CUDA and NCCL; if libringside_nccl.so itself is missing, this Ringside was "
        "built without it: install the CUDA toolkit too and build Ringside again"};

const CollectiveBackend& BackendLibrary::Load() const {
  std::string reason;
  const CollectiveBackend* backend = TryLoad(*this, reason);
  if (backend == nullptr) throw MissingBackendError(reason);
  return *backend;
}

std::string BackendLibrary::Unavailable() const {
  std::string reason;
  const CollectiveBackend* backend = TryLoad(*this, reason);
  return backend == nullptr ? reason : backend->unavailable();
}

}  // namespace ringside
