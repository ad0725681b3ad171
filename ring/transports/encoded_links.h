#ifndef RINGSIDE_RING_TRANSPORTS_ENCODED_LINKS_H_
#define RINGSIDE_RING_TRANSPORTS_ENCODED_LINKS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/codec/codec.h"
#include "ringside/ring/algorithms/link_algorithm.h"
#include "ringside/ring/algorithms/links.h"
#include "ringside/ring/core/bucket_message.h"

namespace ringside {

/// Links that let any algorithm sum floats that are sent encoded. The algorithm works on `wire`,
/// which represents the floats as cells; a cell is the encoding of a fixed number of floats. A cell
/// is encoded when it is first sent after a change. It is decoded when it is received, and passed
/// on unchanged. Adding decodes the received cell and adds it to the floats. So if each sum has one
/// sender, a rank encodes each float exactly once, error feedback works as usual, and all ranks
/// decode the same bytes.
///
/// Throws `CommError` that names the peer, also for bytes that are not a valid encoding.
class EncodedLinks : public Links {
 public:
  /// Which form of a cell is up to date.
  enum class Fresh : std::uint8_t { kFloats, kBytes, kBoth };
  /// The memory of a sum. Later sums reuse it.
  struct Workspace {
    /// Makes room for sums of up to `elements` elements.
    void Reserve(std::size_t elements, const Codec& codec, int world);

    std::vector<float> wire;
    std::vector<Fresh> cells;
  };

  /// Borrows all arguments.
  EncodedLinks(Links& under, int world, const BucketMessage& message, Codec& codec,
               Workspace& workspace);

  /// The cells that the algorithm sums.
  std::span<float> wire() const { return wire_; }
  /// The number of floats that a cell encodes; the last one may encode fewer.
  std::size_t cell_floats() const { return cell_floats_; }
  /// Called after the sum: makes the floats equal to what the other ranks decode.
  void Finish();

  std::string NameOf(int peer) const override { return under_.NameOf(peer); }
  std::size_t window_bytes() const override { return under_.window_bytes(); }
  std::size_t element_bytes() const override { return cell_bytes_; }
  void Send(int peer, std::span<const std::byte> data, ChunkPhase phase) override;
  void Receive(int peer, std::span<std::byte> data, ChunkPhase phase) override;
  void ReceiveAdd(int peer, std::span<std::byte> data, std::span<std::byte> scratch,
                  ChunkPhase phase) override;

 private:
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  Range CellsOf(std::span<const std::byte> data) const;
  std::span<float> FloatsOf(std::size_t cell) const;
  std::span<std::byte> BytesOf(std::size_t cell) const;
  void Encode(std::size_t cell);
  void Decode(std::size_t cell);
  /// Throws if `bytes` are not an encoding of `elements` floats.
  Encoding Checked(int peer, std::span<const std::byte> bytes, std::size_t elements) const;

  Links& under_;
  const BucketMessage message_;
  Codec& codec_;
  std::size_t cell_bytes_;
  std::size_t cell_floats_;
  std::span<float> wire_;
  std::span<Fresh> fresh_;  // by cell
};

}  // namespace ringside

#endif  // RINGSIDE_RING_TRANSPORTS_ENCODED_LINKS_H_
