#include "ringside/common/base/shared_backend.h"

#include <dlfcn.h>

namespace ringside {
namespace {

/// The file that `function` was loaded from.
std::string FileOf(void* function) {
  Dl_info info{};
  return ::dladdr(function, &info) != 0 ? info.dli_fname : "a library";
}

/// Why a library with this function cannot be used; empty: it has our version.
std::string WhyOtherVersion(void* handle, void* backend_function) {
  void* function = ::dlsym(handle, kBackendVersionFunction);
  const std::string theirs = function == nullptr
                                 ? "no version (it is older)"
                                 : reinterpret_cast<BackendVersionFunction>(function)();
  if (theirs == BackendVersion()) return {};
  return FileOf(backend_function) + " does not fit this program: the library has " + theirs +
         ", the program has " + BackendVersion() +
         "; build both from the same sources, or install both from the same package";
}

}  // namespace

void* SharedBackend::Find(const char* name, std::string& reason) const {
  // Global, since OpenMPI's own plug-ins look for its symbols there.
  void* handle = ::dlopen(file, RTLD_NOW | RTLD_GLOBAL);
  void* function = handle == nullptr ? nullptr : ::dlsym(handle, name);
  if (function == nullptr) {
    const char* error = ::dlerror();
    reason = std::string(error == nullptr ? file : error) + "; " + remedy;
    return nullptr;
  }
  reason = WhyOtherVersion(handle, function);
  return reason.empty() ? function : nullptr;
}

}  // namespace ringside
