#ifndef RINGSIDE_RING_BACKEND_LIBRARY_H_
#define RINGSIDE_RING_BACKEND_LIBRARY_H_

#include <memory>
#include <string>

#include "ring/collective.h"
#include "ring/collective_table.h"

namespace ringside {

/// What a backend's library exports, as the function `kBackendFunction`.
struct CollectiveBackend {
  /// Why it cannot run on this machine, and what to do; empty: it can.
  std::string (*unavailable)();
  /// As `CollectiveEntry::make`.
  std::unique_ptr<Collective> (*make)(const CollectiveContext&);
};
using BackendFunction = const CollectiveBackend* (*)();
inline constexpr char kBackendFunction[] = "ringside_collective_backend";

/// A backend that most runs do without, in a shared library of its own: what it stands on (MPI,
/// CUDA) is loaded when somebody first asks for it, costs nothing before, and may be missing. The
/// library is looked for beside the executable, in ../lib/ringside, then where the system looks.
/// It is never unloaded. Thread-safe.
struct BackendLibrary {
  const char* file;    ///< "libringside_mpi.so"
  const char* remedy;  ///< What to install so that a build makes it and it loads.

  /// Throws `MissingBackendError` when it cannot be loaded.
  const CollectiveBackend& Load() const;
  /// Why it cannot be loaded or run here; empty: it can.
  std::string Unavailable() const;
};

extern const BackendLibrary kMpiLibrary;
extern const BackendLibrary kNcclLibrary;

}  // namespace ringside

#endif  // RINGSIDE_RING_BACKEND_LIBRARY_H_
