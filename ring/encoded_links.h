#ifndef RINGSIDE_RING_ENCODED_LINKS_H_
#define RINGSIDE_RING_ENCODED_LINKS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/codec/codec.h"
#include "ring/link_algorithm.h"
#include "ring/links.h"

namespace ringside {

/// Links under which any algorithm sums floats that travel encoded. The algorithm works on `wire`,
/// an image of the floats whose elements are cells: the encodings of so many floats each. A cell is
/// encoded when it is first sent after a change, decoded when it is received, and passed on as it
/// came; adding decodes what comes onto the floats. So where an algorithm has one sender for each
/// sum, a rank encodes each float exactly once, error feedback works as in any other place, and all
/// ranks decode the same bytes.
///
/// Throws `CommError` that names the peer, also for bytes that no codec wrote.
class EncodedLinks : public Links {
 public:
  /// Borrows all; `wire` is space that later sums use again. `place` is that of data[0].
  EncodedLinks(Links& under, int world, std::span<float> data, Codec& codec,
               const CodecPlace& place, std::vector<float>& wire);

  /// What the algorithm sums.
  std::span<float> wire() const { return wire_; }
  /// After the sum: the floats are what the other ranks decode.
  void Finish();

  std::size_t window_bytes() const override { return under_.window_bytes(); }
  std::size_t element_bytes() const override { return cell_bytes_; }
  void Send(int peer, std::span<const std::byte> data) override;
  void Receive(int peer, std::span<std::byte> data) override;
  void ReceiveAdd(int peer, std::span<std::byte> data, std::span<std::byte> scratch) override;

 private:
  /// Where a cell is up to date.
  enum class Fresh : std::uint8_t { kFloats, kBytes, kBoth };
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  Range CellsOf(std::span<const std::byte> data) const;
  std::span<float> FloatsOf(std::size_t cell) const;
  std::span<std::byte> BytesOf(std::size_t cell) const;
  void Encode(std::size_t cell);
  void Decode(std::size_t cell);
  /// Throws for what the peer cannot have encoded.
  Encoding Checked(int peer, std::span<const std::byte> bytes, std::size_t elements) const;

  Links& under_;
  const std::span<float> data_;
  Codec& codec_;
  const CodecPlace place_;
  std::size_t cell_bytes_;
  std::size_t cell_floats_;
  std::span<float> wire_;
  std::vector<Fresh> fresh_;  // by cell
};

/// In place sum over all ranks with `algorithm`, encoded on its way. `world` >= 2, `scratch` holds
/// at least a segment.
void EncodedAllReduce(const LinkAlgorithm& algorithm, Links& links, int rank, int world,
                      std::span<float> data, Codec& codec, const CodecPlace& place,
                      std::vector<float>& wire, std::span<std::byte> scratch);

}  // namespace ringside

#endif  // RINGSIDE_RING_ENCODED_LINKS_H_
