#ifndef RINGSIDE_EXPERIMENTS_WORKER_REPLICA_CHECK_H_
#define RINGSIDE_EXPERIMENTS_WORKER_REPLICA_CHECK_H_

#include <cstdint>
#include <span>
#include <string>

#include "ringside/common/base/deadline.h"
#include "ringside/common/core/store.h"

namespace ringside {

/// Compares what workers hold, given a hash of it by rank; empty for a lost worker. Returns an
/// empty text if all are equal. Otherwise names the workers outside the largest group of equal
/// ones: "worker 2 has other parameters than workers 0, 1 and 3". If two groups are largest, it
/// names both sides without saying which is right. Pure.
std::string ReplicaDifference(std::span<const std::string> hashes);

/// Collective, while no bucket is submitted: compares the parameters of all workers by a hash of
/// 128 bits (XXH3). Throws the same `ReplicasDifferError` on every worker if not all are equal, and
/// `CommError` that names the first missing worker. Each call needs a new value of `steps_done`.
void CheckReplicas(std::span<const float> params, std::int64_t steps_done,
                   ExchangeSeries& exchanges, const Deadline& deadline);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_REPLICA_CHECK_H_
