#ifndef RINGSIDE_PARAMSERVER_WORKER_SEND_QUEUE_H_
#define RINGSIDE_PARAMSERVER_WORKER_SEND_QUEUE_H_

#include <cstddef>
#include <vector>

#include "ringside/common/strategy/strategy_options.h"
#include "ringside/paramserver/slicing/slice_plan.h"

namespace ringside {

/// The position of each slice when slices are sent in this order. `kFifo` is the order of the plan,
/// which is that of the backward pass. In `kPriority` the bucket with the highest index comes
/// first: the next forward pass reads it first (Jayarajan et al., Priority-based parameter
/// propagation, MLSys 2019). The slices of a bucket keep their order. The same on every worker.
std::vector<int> SendPositions(const SlicePlan& slices, SendOrder order);

/// Positions of slices that are ready to be sent to one server. The lowest is next. Not
/// thread-safe.
class SendQueue {
 public:
  /// Makes room for this number of slices.
  void Reserve(int slices) { positions_.reserve(static_cast<std::size_t>(slices)); }

  bool empty() const { return positions_.empty(); }
  void Add(int position);
  /// The position to send next. The queue must not be empty.
  int next() const { return positions_.front(); }
  void RemoveNext();

 private:
  std::vector<int> positions_;  // a heap with the lowest in front
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WORKER_SEND_QUEUE_H_
