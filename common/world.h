#ifndef RINGSIDE_COMMON_WORLD_H_
#define RINGSIDE_COMMON_WORLD_H_

#include <string>

namespace ringside {

/// Where this process stands in the job. A value: copied freely, immutable after the join.
struct World {
  int rank = 0;            ///< Of this worker, 0 <= rank < workers.
  int workers = 1;         ///< Number of workers, the "world size".
  int servers = 0;         ///< Number of parameter servers, 0 for rings.
  bool colocated = false;  ///< Server s runs inside worker s (servers <= workers).
  int local_rank = 0;      ///< Index of this worker among those of its host.
  int local_workers = 1;   ///< Number of workers on its host.
  std::string host = "localhost";
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_WORLD_H_
