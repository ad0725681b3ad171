#include "ringside/ring/backends/backend_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "ringside/common/core/errors.h"

namespace ringside {
namespace {

/// The file that `function` was loaded from.
std::string FileOf(void* function) {
  Dl_info info{};
  return ::dladdr(function, &info) != 0 ? info.dli_fname : "a library";
}

/// Why a library with this backend function cannot be used; empty: it has our version.
std::string WhyOtherVersion(void* handle, void* backend_function) {
  void* function = ::dlsym(handle, kBackendVersionFunction);
  const std::string theirs = function == nullptr
                                 ? "no version (it is older)"
                                 : reinterpret_cast<BackendVersionFunction>(function)();
  if (theirs == BackendVersion()) return {};
  return fmt::format(
      "{} does not fit this program: the library has {}, the program has {}; build both from the "
      "same sources, or install both from the same package",
      FileOf(backend_function), theirs, BackendVersion());
}

/// Null, and why, when it cannot be loaded.
const CollectiveBackend* TryLoad(const BackendLibrary& library, std::string& reason) {
  // Global, since OpenMPI's own plug-ins look for its symbols there.
  void* handle = ::dlopen(library.file, RTLD_NOW | RTLD_GLOBAL);
  void* function = handle == nullptr ? nullptr : ::dlsym(handle, kBackendFunction);
  if (function == nullptr) {
    const char* error = ::dlerror();
    reason = fmt::format("{}; {}", error == nullptr ? library.file : error, library.remedy);
    return nullptr;
  }
  reason = WhyOtherVersion(handle, function);
  return reason.empty() ? reinterpret_cast<BackendFunction>(function)() : nullptr;
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
