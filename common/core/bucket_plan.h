#ifndef RINGSIDE_COMMON_CORE_BUCKET_PLAN_H_
#define RINGSIDE_COMMON_CORE_BUCKET_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ringside {

/// One trainable tensor of a model.
struct TensorSpec {
  std::string name;
  std::size_t elements = 0;
};

struct BucketPlanOptions {
  /// A bucket's target size in bytes. 0: each tensor is its own bucket, whatever its size.
  std::size_t target_bytes = std::size_t{4} << 20;
  /// The first bucket is smaller, so that communication starts early in the backward pass. It is
  /// at most half as large again.
  std::size_t first_bytes = std::size_t{1} << 20;
};

/// Cuts the flat vectors into buckets: contiguous, disjoint, covering, in the order in which the
/// backward pass finishes them. A pure function of its inputs, hence the same on every rank;
/// `Fingerprint` lets ranks check it.
///
/// Small tensors are coalesced until a bucket reaches its target; a tensor larger than the target
/// is cut into equal pieces, so servers are balanced and a ring can pipeline. Cuts lie on multiples
/// of 16 floats (64 bytes) where a tensor is split.
class BucketPlan {
 public:
  struct Range {
    std::size_t begin = 0;  ///< First element in the flat vectors.
    std::size_t end = 0;    ///< One past the last.
    std::size_t size() const { return end - begin; }
    bool operator==(const Range&) const = default;
  };

  BucketPlan() = default;
  /// `tensors` in backward order; tensor i lies in the flat vectors right after tensor i-1.
  BucketPlan(std::span<const TensorSpec> tensors, const BucketPlanOptions& options);

  std::size_t elements() const { return elements_; }
  int buckets() const { return static_cast<int>(ranges_.size()); }
  const Range& range(int bucket) const { return ranges_[static_cast<std::size_t>(bucket)]; }

  int tensors() const { return static_cast<int>(tensor_ranges_.size()); }
  /// Where tensor i lies in the flat vectors.
  const Range& tensor_range(int tensor) const {
    return tensor_ranges_[static_cast<std::size_t>(tensor)];
  }
  /// The buckets that hold a part of tensor i: consecutive, [first, last]. For an empty tensor
  /// first > last.
  int first_bucket(int tensor) const { return spans_[static_cast<std::size_t>(tensor)].first; }
  int last_bucket(int tensor) const { return spans_[static_cast<std::size_t>(tensor)].last; }

  /// What a server's part costs, in any unit of time.
  struct ServerCost {
    double fixed = 0;
    double per_element = 1;
  };
  /// Server of each bucket: largest first to the server that would be done first with it (Graham's
  /// LPT rule), ties to the one with the fewest elements, then to the lowest index. At least one
  /// server.
  std::vector<int> AssignServers(std::span<const ServerCost> servers) const;
  /// The same for servers that cost alike. `servers` >= 1.
  std::vector<int> AssignServers(int servers) const;

  /// FNV-1a over all bucket ranges and tensor sizes: equal plans have equal fingerprints.
  std::uint64_t Fingerprint() const;

 private:
  struct BucketSpan {
    int first = 0;
    int last = -1;
  };

  void CutFirst(std::size_t first_elements, std::size_t target_elements);
  void Cut(std::size_t end, std::size_t target_elements);
  void MapTensors();

  std::size_t elements_ = 0;
  std::vector<Range> tensor_ranges_;
  std::vector<Range> ranges_;
  std::vector<BucketSpan> spans_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_BUCKET_PLAN_H_
