#include "ringside/ring/backends/backend_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "ringside/common/core/errors.h"

namespace ringside {
namespace {

/// Null, and why, when it cannot be loaded.
const CollectiveBackend* TryLoad(const BackendLibrary& library, std::string& reason) {
  // Global, since OpenMPI's own plug-ins look for its symbols there.
  void* handle = ::dlopen(library.file, RTLD_NOW | RTLD_GLOBAL);
  void* function = handle == nullptr ? nullptr : ::dlsym(handle, kBackendFunction);
  if (function != nullptr) return reinterpret_cast<BackendFunction>(function)();
  const char* error = ::dlerror();
  reason = fmt::format("{}; {}", error == nullptr ? library.file : error, library.remedy);
  return nullptr;
}

}  // namespace

const BackendLibrary kMpiLibrary{
    .file = "libringside_mpi.so",
    .remedy = "install libopenmpi-dev and openmpi-bin, then configure and build again"};

const BackendLibrary kNcclLibrary{
    .file = "libringside_nccl.so",
    .remedy = "install the CUDA toolkit and NCCL, then configure and build again"};

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
