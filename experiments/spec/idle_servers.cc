#include "ringside/experiments/spec/idle_servers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ringside {
namespace {

// A bucket is at most 1.5 times its target, rounded up to 64 bytes. With more than that many bytes
// per server, every server has a bucket. Then no plan is needed, which may have millions of
// buckets.
bool HasBucketForEveryServer(const RunSpec& spec, std::span<const TensorSpec> tensors) {
  if (spec.bucket_bytes < std::int64_t{sizeof(float)}) return false;  // one bucket per tensor
  double bytes = 0;
  for (const TensorSpec& tensor : tensors) {
    bytes += static_cast<double>(tensor.elements) * sizeof(float);
  }
  return bytes >= spec.servers * (1.5 * static_cast<double>(spec.bucket_bytes) + 64);
}

}  // namespace

int IdleServers(const RunSpec& spec, std::span<const TensorSpec> tensors) {
  if (HasBucketForEveryServer(spec, tensors)) return 0;
  BucketPlanOptions cut{.target_bytes = static_cast<std::size_t>(spec.bucket_bytes)};
  cut.first_bytes = std::min(cut.first_bytes, cut.target_bytes);
  return std::max(0, spec.servers - BucketPlan(tensors, cut).buckets());
}

}  // namespace ringside
