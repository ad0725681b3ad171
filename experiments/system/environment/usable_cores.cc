#include "ringside/experiments/system/environment/usable_cores.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace ringside {

int UsableCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof(cores), &cores) == 0) return CPU_COUNT(&cores);
  // The set is too small for machines with more than 1,024 cores.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace ringside
