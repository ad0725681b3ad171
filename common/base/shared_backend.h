#ifndef RINGSIDE_COMMON_BASE_SHARED_BACKEND_H_
#define RINGSIDE_COMMON_BASE_SHARED_BACKEND_H_

#include <string>

namespace ringside {

/// Returns Ringside's version and a hash of the headers that a backend and the program that loads
/// it both compile: "0.2.0, interface 3f2a9c01b7de". A library exports its own through
/// `kBackendVersionFunction`. That function is called before all others, because in a library with
/// another version structs and virtual tables may be laid out differently.
const char* BackendVersion();
using BackendVersionFunction = const char* (*)();
inline constexpr char kBackendVersionFunction[] = "ringside_backend_version";

/// A backend in its own shared library, since most runs do not need it. What it depends on (MPI,
/// CUDA) is loaded at the first use, costs nothing before, and may be missing. The library is
/// looked for where the executable's RPATH says: of our own executables, in ../lib/ringside, in a
/// build as in an installation; of a program that links `ringside::ring`, in the
/// lib/ringside of the installation that it was linked against. Then in LD_LIBRARY_PATH and where
/// the system looks. It is never unloaded. Thread-safe.
struct SharedBackend {
  const char* file;    ///< "libringside_mpi.so"
  const char* remedy;  ///< What to install so that it loads, and so that a build makes it.

  /// Returns the address of the exported function `name`. Null, and why: it cannot be loaded or has
  /// another `BackendVersion`.
  void* Find(const char* name, std::string& reason) const;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_SHARED_BACKEND_H_
