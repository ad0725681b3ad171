#ifndef RINGSIDE_RING_LINKS_H_
#define RINGSIDE_RING_LINKS_H_

#include <cstddef>
#include <span>

namespace ringside {

/// Ordered, reliable connections from this rank to others: what the algorithms of this folder are
/// written against, so that they run over sockets and over queues in a test alike. Used by one
/// thread at a time. Both calls throw `CommError` that names the peer.
///
/// The algorithms see bytes; what they sum are elements of `element_bytes()` each, floats unless a
/// decorator says otherwise (encoded_links.h).
///
/// Messages of `window_bytes()` in total fit in a connection unread; a `Send` beyond that may block
/// until the peer receives. The algorithms keep within it, so no circle of ranks can wait for each
/// other. Ranks may have windows of different sizes.
class Links {
 public:
  /// Message size of pipelined transfers: with Gloo's header it fills one packet of a loopback
  /// device (64 KiB) without spilling a few bytes into a second, which costs a wake-up and doubles
  /// the CPU of an all-reduce.
  static constexpr std::size_t kSegmentBytes = std::size_t{63} << 10;
  /// Small enough for the 208 KiB that Linux grants a socket's send buffer by default.
  static constexpr std::size_t kLeastWindowBytes = 3 * kSegmentBytes;
  static_assert(kSegmentBytes % sizeof(float) == 0);

  virtual ~Links() = default;

  /// At least `kLeastWindowBytes`.
  virtual std::size_t window_bytes() const = 0;

  /// Returns when `data` may be written to again.
  virtual void Send(int peer, std::span<const std::byte> data) = 0;
  /// The next message of the peer; `data` is as long as that message.
  virtual void Receive(int peer, std::span<std::byte> data) = 0;

  /// Data are cut at multiples of so many bytes alone, which divide a segment.
  virtual std::size_t element_bytes() const { return sizeof(float); }
  /// Adds the next message of the peer to `data`, at most a segment. `scratch` holds as much.
  virtual void ReceiveAdd(int peer, std::span<std::byte> data, std::span<std::byte> scratch);
};

}  // namespace ringside

#endif  // RINGSIDE_RING_LINKS_H_
