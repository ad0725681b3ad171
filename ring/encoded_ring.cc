// Steps and bytes. As of a ring (ring_algorithms.cc), of the encoded data: 2(N-1) steps, 2(N-1)/N.
// In step t a rank sends chunk r-t and receives chunk r-t-1. It encodes what it sends in steps 0 to
// N-1: partial sums, and last the complete sum of its chunk, which it decodes again to hold what
// the others will. From step N on it sends what it has received.
#include "ring/encoded_ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "common/errors.h"
#include "ring/segments.h"

namespace ringside {
namespace {

/// The most floats whose encoding fits into a segment.
std::size_t FloatsPerSegment(const Codec& codec) {
  std::size_t floats = Links::kSegmentBytes;
  while (codec.EncodedBytes(floats) > Links::kSegmentBytes) floats -= Codec::kAlignment;
  return floats;
}

class EncodedRing {
 public:
  EncodedRing(Links& links, int rank, int world, std::span<float> data, Codec& codec,
              const CodecPlace& place, std::vector<std::byte>& wire)
      : links_(links),
        rank_(static_cast<std::size_t>(rank)),
        world_(static_cast<std::size_t>(world)),
        data_(data),
        codec_(codec),
        place_(place),
        floats_per_segment_(FloatsPerSegment(codec)),
        segments_(SegmentsPerChunk()),
        wire_(wire) {
    wire_.resize(std::max(wire_.size(), world_ * segments_ * Links::kSegmentBytes));
  }

  void Run() {
    const std::size_t total = segments_ * 2 * (world_ - 1);
    if (total == 0) return;
    const std::size_t ahead = std::min(segments_ - 1, SegmentsAhead(links_));
    for (std::size_t k = 0; k < total + ahead; ++k) {
      if (k < total) Send(k / segments_, k % segments_);
      if (k >= ahead) Receive((k - ahead) / segments_, (k - ahead) % segments_);
    }
  }

 private:
  struct Part {
    std::size_t begin;  // in data_
    std::span<float> floats;
    std::span<std::byte> bytes;  // of their encoding, in wire_
  };

  std::size_t ChunkBegin(std::size_t chunk) const { return data_.size() * chunk / world_; }
  std::size_t SegmentsPerChunk() const {
    const std::size_t longest = (data_.size() + world_ - 1) / world_;
    return (longest + floats_per_segment_ - 1) / floats_per_segment_;
  }

  /// Segment `index` of chunk rank - `back`.
  Part PartOf(std::size_t back, std::size_t index) {
    const std::size_t chunk = (rank_ + 2 * world_ - back) % world_;
    const std::size_t end = ChunkBegin(chunk + 1);
    const std::size_t begin = std::min(ChunkBegin(chunk) + index * floats_per_segment_, end);
    const std::size_t size = std::min(floats_per_segment_, end - begin);
    const std::size_t slot = (chunk * segments_ + index) * Links::kSegmentBytes;
    return {begin, data_.subspan(begin, size),
            std::span(wire_).subspan(slot, codec_.EncodedBytes(size))};
  }

  void Send(std::size_t step, std::size_t index) {
    const Part part = PartOf(step, index);
    if (part.floats.empty()) return;
    if (step < world_) {
      codec_.Encode(part.floats, {place_.offset + part.begin, place_.step}, part.bytes);
    }
    if (step == world_ - 1) codec_.Decode({part.bytes, part.floats.size()}, 0, part.floats);
    links_.Send(static_cast<int>((rank_ + 1) % world_), part.bytes);
  }

  void Receive(std::size_t step, std::size_t index) {
    const Part part = PartOf(step + 1, index);
    if (part.floats.empty()) return;
    const auto left = static_cast<int>((rank_ + world_ - 1) % world_);
    links_.Receive(left, part.bytes);
    const Encoding encoding{part.bytes, part.floats.size()};
    const std::string damage = codec_.DamageOf(encoding);
    if (!damage.empty()) throw CommError(fmt::format("worker {}", left), "receiving", damage);
    if (step < world_ - 1) {
      codec_.Add(encoding, 0, 1, part.floats);
    } else {
      codec_.Decode(encoding, 0, part.floats);
    }
  }

  Links& links_;
  const std::size_t rank_;
  const std::size_t world_;
  const std::span<float> data_;
  Codec& codec_;
  const CodecPlace place_;
  const std::size_t floats_per_segment_;
  const std::size_t segments_;  // of the longest chunk
  std::vector<std::byte>& wire_;
};

}  // namespace

void EncodedRingAllReduce(Links& links, int rank, int world, std::span<float> data, Codec& codec,
                          const CodecPlace& place, std::vector<std::byte>& wire) {
  EncodedRing(links, rank, world, data, codec, place, wire).Run();
}

}  // namespace ringside
