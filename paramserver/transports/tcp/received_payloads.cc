#include "ringside/paramserver/transports/tcp/received_payloads.h"

#include <bit>

namespace ringside {

std::span<std::byte> ReceivedPayload::Resize(std::size_t bytes) {
  if (bytes > capacity_) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    capacity_ = bytes;
  }
  piece_ = {memory_.get(), bytes};
  return {memory_.get(), bytes};
}

ReceivedPayloads::ReceivedPayloads() {
  for (auto& pool : pools_) pool = PayloadPool<ReceivedPayload>::Make();
}

ReceivedPayloads::Taken ReceivedPayloads::Take(std::size_t bytes) {
  Taken taken = pools_.at(static_cast<std::size_t>(std::bit_width(bytes)))->Take();
  const std::size_t before = taken->capacity();
  taken->Resize(bytes);
  memory_.fetch_add(taken->capacity() - before, std::memory_order_relaxed);
  return taken;
}

}  // namespace ringside
