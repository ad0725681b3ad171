#include "ringside/paramserver/worker/send_queue.h"

#include <algorithm>
#include <functional>

namespace ringside {

std::vector<int> SendPositions(const SlicePlan& slices, SendOrder order) {
  std::vector<int> positions(static_cast<std::size_t>(slices.slices()));
  int position = 0;
  const auto number = [&](int bucket) {
    for (int slice = slices.first_slice(bucket); slice < slices.end_slice(bucket); ++slice) {
      positions[static_cast<std::size_t>(slice)] = position++;
    }
  };
  for (int i = 0; i < slices.buckets(); ++i) {
    number(order == SendOrder::kFifo ? i : slices.buckets() - 1 - i);
  }
  return positions;
}

void SendQueue::Add(int position) {
  positions_.push_back(position);
  std::ranges::push_heap(positions_, std::greater<>());
}

void SendQueue::RemoveNext() {
  std::ranges::pop_heap(positions_, std::greater<>());
  positions_.pop_back();
}

}  // namespace ringside
