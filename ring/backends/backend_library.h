#ifndef RINGSIDE_RING_BACKENDS_BACKEND_LIBRARY_H_
#define RINGSIDE_RING_BACKENDS_BACKEND_LIBRARY_H_

#include <memory>
#include <string>

#include "ringside/common/base/shared_backend.h"
#include "ringside/ring/core/collective.h"
#include "ringside/ring/core/collective_entry.h"

namespace ringside {

/// The functions of a backend, which its library exports through `kBackendFunction`.
struct CollectiveBackend {
  /// Returns why it cannot run on this machine, and what to do; empty: it can.
  std::string (*unavailable)();
  /// Like `CollectiveEntry::make`.
  std::unique_ptr<Collective> (*make)(const CollectiveContext&);
};
using BackendFunction = const CollectiveBackend* (*)();
inline constexpr char kBackendFunction[] = "ringside_collective_backend";

/// The library of a collective (`SharedBackend`).
struct BackendLibrary {
  const char* file;    ///< "libringside_mpi.so"
  const char* remedy;  ///< As in `SharedBackend`.

  /// Throws `MissingBackendError` when it cannot be loaded or has another `BackendVersion`.
  const CollectiveBackend& Load() const;
  /// Why it cannot be loaded or run here; empty: it can.
  std::string Unavailable() const;
};

extern const BackendLibrary kMpiLibrary;
extern const BackendLibrary kNcclLibrary;

}  // namespace ringside

#endif  // RINGSIDE_RING_BACKENDS_BACKEND_LIBRARY_H_
