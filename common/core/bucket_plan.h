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
  std::vector<std::int64_t> shape = {};  ///< Empty: a vector of that many elements.
};

struct BucketPlanOptions {
  /// A bucket's target size in bytes. 0: each tensor is its own bucket, whatever its size.
  std::size_t target_bytes = std::size_t{4} << 20;
  /// The first bucket is smaller, so that communication starts early in the backward pass. Its size
  /// is at most 1.5 times this.
  std::size_t first_bytes = std::size_t{1} << 20;
};

/// Cuts the flat vectors into buckets. Buckets are contiguous and disjoint, cover everything, and
/// are in the order in which the backward pass finishes them. A pure function of its inputs, so it
/// is the same on every rank. Ranks can compare `Fingerprint`.
///
/// Small tensors are combined until a bucket reaches its target. A tensor larger than the target is
/// cut into equal pieces, so that servers are balanced and a ring can pipeline. A tensor is cut
/// only at multiples of 16 floats (64 bytes).
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
  /// The buckets that hold a part of tensor i: [first, last], consecutive. For an empty tensor
  /// first > last.
  int first_bucket(int tensor) const { return spans_[static_cast<std::size_t>(tensor)].first; }
  int last_bucket(int tensor) const { return spans_[static_cast<std::size_t>(tensor)].last; }

  /// The cost of a server's share, in any unit of time.
  struct ServerCost {
    double fixed = 0;
    double per_element = 1;
  };
  /// The server of each bucket. The largest bucket comes first; each goes to the server that would
  /// finish it first (Graham's LPT rule). On a tie it goes to the server with the fewest elements,
  /// then to the lowest index. At least one server.
  std::vector<int> AssignServers(std::span<const ServerCost> servers) const;
  /// The same for servers of equal cost. `servers` >= 1.
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
