#include "ringside/paramserver/worker/send_queue.h"

#include <algorithm>

namespace ringside {

int SendQueue::next() const { return *Next(); }

void SendQueue::RemoveNext() { buckets_.erase(Next()); }

// A queue has at most the buckets of one step, and sending a bucket takes milliseconds. So the cost
// of looking at all of them does not matter.
std::vector<int>::const_iterator SendQueue::Next() const {
  return order_ == SendOrder::kFifo ? buckets_.begin() : std::ranges::max_element(buckets_);
}

}  // namespace ringside
