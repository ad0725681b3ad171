#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_RECEIVED_PAYLOADS_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_RECEIVED_PAYLOADS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "ringside/paramserver/wire/payload_pool.h"

namespace ringside {

/// A received payload in one piece. Its memory is used again.
class ReceivedPayload : public Payload {
 public:
  std::span<const Piece> pieces() const override { return {&piece_, 1}; }
  /// Memory for this many bytes, which become the payload.
  std::span<std::byte> Resize(std::size_t bytes);
  void Clear() { piece_ = {}; }
  std::size_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
  Piece piece_;
};

/// The memory of received payloads. A payload gets the memory of one that was at most twice as long
/// or as short. Otherwise every payload would become as long as the longest one in the end. So for
/// each such class of lengths this keeps no more payloads than were in use at a time. Thread-safe.
class ReceivedPayloads {
 public:
  using Taken = std::unique_ptr<ReceivedPayload, PayloadReturn>;

  ReceivedPayloads();

  /// A payload of this many bytes, for the caller to fill.
  Taken Take(std::size_t bytes);
  /// The bytes of memory that all payloads have, used or kept.
  std::size_t memory() const { return memory_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kClasses = 33;  // by the bits of a length of less than 4 GiB

  std::array<std::shared_ptr<PayloadPool<ReceivedPayload>>, kClasses> pools_;
  std::atomic<std::size_t> memory_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_RECEIVED_PAYLOADS_H_
