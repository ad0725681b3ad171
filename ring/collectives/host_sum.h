#ifndef RINGSIDE_RING_COLLECTIVES_HOST_SUM_H_
#define RINGSIDE_RING_COLLECTIVES_HOST_SUM_H_

#include "ringside/common/strategy/option.h"

namespace ringside {

/// How the workers of one host sum among themselves.
enum class HostSum {
  kShm,   ///< Shared memory.
  kNccl,  ///< NCCL, on the host's GPUs.
};

inline constexpr ChoiceOption<HostSum, 2> kHostSum{
    .name = "host-sum",
    .placeholder = "NAME",
    .help = "hierarchical: inside a host sum in shm, or by nccl on its GPUs",
    .noun = "sum inside a host",
    .choices = {"shm", "nccl"},
    .default_value = HostSum::kShm};

}  // namespace ringside

#endif  // RINGSIDE_RING_COLLECTIVES_HOST_SUM_H_
