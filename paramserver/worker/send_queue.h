#ifndef RINGSIDE_PARAMSERVER_WORKER_SEND_QUEUE_H_
#define RINGSIDE_PARAMSERVER_WORKER_SEND_QUEUE_H_

#include <vector>

#include "ringside/common/strategy/strategy_options.h"

namespace ringside {

/// Buckets that are ready to be sent to one server. Buckets are numbered in the order in which the
/// backward pass finishes them. So the bucket with the highest number is the one that the next
/// forward pass reads first (Jayarajan et al., Priority-based parameter propagation, MLSys 2019).
/// Not thread-safe.
class SendQueue {
 public:
  explicit SendQueue(SendOrder order) : order_(order) {}

  /// Makes room for this number of buckets.
  void Reserve(int buckets) { buckets_.reserve(static_cast<std::size_t>(buckets)); }

  bool empty() const { return buckets_.empty(); }
  void Add(int bucket) { buckets_.push_back(bucket); }
  /// The bucket to send next. The queue must not be empty.
  int next() const;
  void RemoveNext();

 private:
  std::vector<int>::const_iterator Next() const;

  SendOrder order_;
  std::vector<int> buckets_;  // in order of arrival
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WORKER_SEND_QUEUE_H_
