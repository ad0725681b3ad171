#ifndef RINGSIDE_COMMON_CORE_WORLD_H_
#define RINGSIDE_COMMON_CORE_WORLD_H_

#include <string>

namespace ringside {

/// Where this process stands in the job. A value: copied freely, immutable after the join.
struct World {
  int rank = 0;     ///< Of this worker, 0 <= rank < workers.
  int workers = 1;  ///< Number of workers, the "world size".
  int servers = 0;  ///< Number of parameter servers, 0 for rings.
  /// How many of them run inside workers 0, 1, ...: the last. The first are processes of their own.
  int colocated_servers = 0;
  int local_rank = 0;     ///< Index of this worker among those of its host.
  int local_workers = 1;  ///< Number of workers on its host.
  /// Workers share memory if and only if this is equal: an address, a name, or an emulated host's.
  std::string host = "localhost";

  int dedicated_servers() const { return servers - colocated_servers; }
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_WORLD_H_
