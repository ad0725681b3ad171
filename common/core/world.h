#ifndef RINGSIDE_COMMON_CORE_WORLD_H_
#define RINGSIDE_COMMON_CORE_WORLD_H_

#include <string>

namespace ringside {

/// The position of this process in the job. A value; immutable after the join.
struct World {
  int rank = 0;     ///< Of this worker, 0 <= rank < workers.
  int workers = 1;  ///< Number of workers, the "world size".
  int servers = 0;  ///< Number of parameter servers, 0 for rings.
  /// How many of the servers run inside workers 0, 1, ... These are the last ones. The first ones
  /// are processes of their own.
  int colocated_servers = 0;
  int local_rank = 0;     ///< Index of this worker among those of its host.
  int local_workers = 1;  ///< Number of workers on its host.
  /// Two workers share memory if and only if this is equal: an address, a name, or the name of an
  /// emulated host.
  std::string host = "localhost";

  int dedicated_servers() const { return servers - colocated_servers; }
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_WORLD_H_
