#ifndef RINGSIDE_RING_ALGORITHMS_LINKS_H_
#define RINGSIDE_RING_ALGORITHMS_LINKS_H_

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "ringside/common/measure/chunk_event.h"

namespace ringside {

/// Ordered, reliable connections from this rank to others. The algorithms of this folder use only
/// this interface. So they run over sockets and, in a test, over queues. One thread at a time may
/// use it. Sends and receives throw `CommError` that names the peer.
///
/// The algorithms handle bytes. They sum elements of `element_bytes()` each: floats, unless a
/// decorator changes it (encoded_links.h).
///
/// A connection holds up to `window_bytes()` of unread messages. A `Send` beyond that may block
/// until the peer receives. The algorithms stay within the window, so ranks cannot wait for each
/// other in a cycle. Ranks may have windows of different sizes.
///
/// `phase` is for records alone (recorded_links.h).
class Links {
 public:
  /// Message size of pipelined transfers. With Gloo's header a message fills one packet of a
  /// loopback device (64 KiB). A few bytes more would need a second packet, which costs a wake-up
  /// and doubles the CPU time of an all-reduce.
  static constexpr std::size_t kSegmentBytes = std::size_t{63} << 10;
  /// Small enough for the 208 KiB that Linux grants a socket's send buffer by default.
  static constexpr std::size_t kLeastWindowBytes = 3 * kSegmentBytes;
  static_assert(kSegmentBytes % sizeof(float) == 0);

  virtual ~Links() = default;

  /// What errors call a peer: "worker 3".
  virtual std::string NameOf(int peer) const { return "worker " + std::to_string(peer); }

  /// At least `kLeastWindowBytes`.
  virtual std::size_t window_bytes() const = 0;

  /// Sends one message. Returns when the caller may change `data` again.
  virtual void Send(int peer, std::span<const std::byte> data, ChunkPhase phase) = 0;
  /// Receives the peer's next message, which is exactly as long as `data`.
  virtual void Receive(int peer, std::span<std::byte> data, ChunkPhase phase) = 0;

  /// Algorithms cut data only at multiples of this number of bytes. It divides a segment.
  virtual std::size_t element_bytes() const { return sizeof(float); }
  /// Receives the peer's next message, at most a segment, and adds it to `data`. `scratch` is at
  /// least as long.
  virtual void ReceiveAdd(int peer, std::span<std::byte> data, std::span<std::byte> scratch,
                          ChunkPhase phase);
};

/// The number of messages that `bytes` are cut into.
inline std::size_t SegmentCount(std::size_t bytes) {
  return (bytes + Links::kSegmentBytes - 1) / Links::kSegmentBytes;
}

/// The i-th message of `range`; empty past the end.
template <typename Byte>
std::span<Byte> Segment(std::span<Byte> range, std::size_t index) {
  const std::size_t begin = std::min(index * Links::kSegmentBytes, range.size());
  return range.subspan(begin, std::min(Links::kSegmentBytes, range.size() - begin));
}

/// How many messages a rank may send before it has received the same number. Together with the
/// message that is being sent they fill a connection's window.
inline std::size_t SegmentsAhead(const Links& links) {
  return links.window_bytes() / Links::kSegmentBytes - 1;
}

/// sum[i] += term[i]. The spans have the same length and are disjoint. Vectorised. Each element
/// takes one IEEE addition, so the bits do not depend on the instruction set.
void AddInto(std::span<float> sum, std::span<const float> term);

}  // namespace ringside

#endif  // RINGSIDE_RING_ALGORITHMS_LINKS_H_
