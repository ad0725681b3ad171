#include "ringside/common/core/bucket_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ringside/common/base/fnv1a.h"

namespace ringside {
namespace {

constexpr std::size_t kAlignment = 16;  // floats

std::size_t RoundUp(std::size_t value) {
  return (value + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

BucketPlan::BucketPlan(std::span<const TensorSpec> tensors, const BucketPlanOptions& options) {
  const std::size_t target = options.target_bytes / sizeof(float);
  const std::size_t first = std::min(options.first_bytes / sizeof(float), target);
  for (const TensorSpec& tensor : tensors) {
    tensor_ranges_.push_back({elements_, elements_ + tensor.elements});
    elements_ += tensor.elements;
    if (ranges_.empty() && elements_ > 0 && elements_ >= first) CutFirst(first, target);
    const std::size_t pending = ranges_.empty() ? 0 : elements_ - ranges_.back().end;
    if (pending > 0 && pending >= target) Cut(elements_, target);
  }
  Cut(elements_, target);
  MapTensors();
}

// Closes the first bucket. It gets its own target size when the tensor that fills it is much
// larger.
void BucketPlan::CutFirst(std::size_t first_elements, std::size_t target_elements) {
  const bool goes_beyond = first_elements > 0 && elements_ > first_elements + first_elements / 2;
  if (goes_beyond && first_elements < target_elements) {
    ranges_.push_back({0, std::min(RoundUp(first_elements), elements_)});
  } else {
    Cut(elements_, target_elements);
  }
}

// Closes all elements up to `end` into as few equal buckets as the target allows.
void BucketPlan::Cut(std::size_t end, std::size_t target_elements) {
  std::size_t begin = ranges_.empty() ? 0 : ranges_.back().end;
  if (begin == end) return;
  const std::size_t total = end - begin;
  const std::size_t pieces =
      target_elements == 0
          ? 1
          : std::max<std::size_t>(1, (total + target_elements / 2) / target_elements);
  const std::size_t piece = (total + pieces - 1) / pieces;
  for (; begin < end; begin = ranges_.back().end)
    ranges_.push_back({begin, std::min(RoundUp(begin + piece), end)});
}

void BucketPlan::MapTensors() {
  for (const Range& tensor : tensor_ranges_) {
    BucketSpan span;
    if (tensor.size() > 0) {
      const auto holds = [](const Range& bucket, std::size_t element) {
        return bucket.end <= element;
      };
      const auto first = std::lower_bound(ranges_.begin(), ranges_.end(), tensor.begin, holds);
      const auto last = std::lower_bound(first, ranges_.end(), tensor.end - 1, holds);
      span = {static_cast<int>(first - ranges_.begin()), static_cast<int>(last - ranges_.begin())};
    }
    spans_.push_back(span);
  }
}

std::vector<int> BucketPlan::AssignServers(std::span<const ServerCost> servers) const {
  std::vector<int> by_size(ranges_.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](int a, int b) { return range(a).size() > range(b).size(); });
  std::vector<std::size_t> load(servers.size(), 0);
  std::vector<int> owner(ranges_.size(), 0);
  for (int bucket : by_size) {
    const std::size_t size = range(bucket).size();
    const auto done_with_it = [&](std::size_t server) {
      const double elements = static_cast<double>(load[server] + size);
      return std::pair(servers[server].fixed + servers[server].per_element * elements,
                       load[server]);
    };
    std::size_t best = 0;
    for (std::size_t server = 1; server < servers.size(); ++server) {
      if (done_with_it(server) < done_with_it(best)) best = server;
    }
    owner[static_cast<std::size_t>(bucket)] = static_cast<int>(best);
    load[best] += size;
  }
  return owner;
}

std::vector<int> BucketPlan::AssignServers(int servers) const {
  return AssignServers(std::vector<ServerCost>(static_cast<std::size_t>(servers)));
}

std::uint64_t BucketPlan::Fingerprint() const {
  std::uint64_t hash = kFnv1aBasis;
  for (const Range& tensor : tensor_ranges_) hash = Fnv1a(hash, tensor.end);
  for (const Range& bucket : ranges_) hash = Fnv1a(hash, bucket.end);
  return hash;
}

}  // namespace ringside
