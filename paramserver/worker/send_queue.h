#ifndef RINGSIDE_PARAMSERVER_WORKER_SEND_QUEUE_H_
#define RINGSIDE_PARAMSERVER_WORKER_SEND_QUEUE_H_

#include <vector>

#include "ringside/common/strategy/strategy_options.h"

namespace ringside {

/// Buckets that are ready to leave a worker for one server. Buckets are numbered in the order in
/// which the backward pass finishes them, so the highest is what the next forward pass reads first
/// (Jayarajan et al., Priority-based parameter propagation, MLSys 2019). Not thread-safe.
class SendQueue {
 public:
  explicit SendQueue(SendOrder order) : order_(order) {}

  /// Makes room for so many.
  void Reserve(int buckets) { buckets_.reserve(static_cast<std::size_t>(buckets)); }

  bool empty() const { return buckets_.empty(); }
  void Add(int bucket) { buckets_.push_back(bucket); }
  /// The bucket that leaves next. Not for an empty queue.
  int next() const;
  void RemoveNext();

 private:
  std::vector<int>::const_iterator Next() const;

  SendOrder order_;
  std::vector<int> buckets_;  // in the order in which they came
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WORKER_SEND_QUEUE_H_
