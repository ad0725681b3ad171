// Steps and bytes are those of the algorithm, applied to the encoded data. The length of a cell is
// a segment, or a power of two times shorter. So a segment holds whole cells, and the chunk of
// every rank has many cells. The last cell is padded.
#include "ringside/ring/transports/encoded_links.h"

#include <algorithm>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

constexpr std::size_t kLeastCellBytes = Links::kSegmentBytes >> 8;
static_assert((kLeastCellBytes << 8) == Links::kSegmentBytes);
static_assert(kLeastCellBytes % sizeof(float) == 0);
/// Cells per rank. The chunks of two ranks may differ by a cell, and up to one cell is padding.
/// That is one or two per cent.
constexpr std::size_t kCellsPerRank = 64;

std::size_t CellBytes(std::size_t encoded_bytes, int world) {
  const std::size_t cells = kCellsPerRank * static_cast<std::size_t>(world);
  std::size_t bytes = Links::kSegmentBytes;
  while (bytes > kLeastCellBytes && bytes * cells > encoded_bytes) bytes /= 2;
  return bytes;
}

/// Returns the largest number of floats whose encoding fits into `bytes`.
std::size_t FloatsThatFit(const Codec& codec, std::size_t bytes) {
  std::size_t fit = 1;
  std::size_t too_many = 2 * bytes;
  while (fit + 1 < too_many) {
    const std::size_t middle = (fit + too_many) / 2;
    (codec.EncodedBytes(middle) <= bytes ? fit : too_many) = middle;
  }
  return fit;
}

std::size_t CellCount(std::size_t elements, std::size_t cell_floats) {
  return (elements + cell_floats - 1) / cell_floats;
}

template <typename Value>
std::span<Value> AtLeast(std::vector<Value>& values, std::size_t count) {
  if (values.size() < count) values.resize(count);
  return std::span(values).first(count);
}

}  // namespace

void EncodedLinks::Workspace::Reserve(std::size_t elements, const Codec& codec, int world) {
  const std::size_t cell_bytes = CellBytes(codec.EncodedBytes(elements), world);
  const std::size_t count = CellCount(elements, FloatsThatFit(codec, cell_bytes));
  AtLeast(cells, count);
  AtLeast(wire, count * cell_bytes / sizeof(float));
}

EncodedLinks::EncodedLinks(Links& under, int world, const BucketMessage& message, Codec& codec,
                           Workspace& workspace)
    : under_(under),
      message_(message),
      codec_(codec),
      cell_bytes_(CellBytes(codec.EncodedBytes(message.data.size()), world)),
      cell_floats_(FloatsThatFit(codec, cell_bytes_)),
      fresh_(AtLeast(workspace.cells, CellCount(message.data.size(), cell_floats_))) {
  std::ranges::fill(fresh_, Fresh::kFloats);
  wire_ = AtLeast(workspace.wire, fresh_.size() * cell_bytes_ / sizeof(float));
}

void EncodedLinks::Finish() {
  for (std::size_t cell = 0; cell < fresh_.size(); ++cell) {
    if (fresh_[cell] == Fresh::kFloats) Encode(cell);
    if (fresh_[cell] == Fresh::kBytes) Decode(cell);
  }
}

void EncodedLinks::Send(int peer, std::span<const std::byte> data, ChunkPhase phase) {
  const Range cells = CellsOf(data);
  for (std::size_t cell = cells.begin; cell < cells.end; ++cell) {
    if (fresh_[cell] == Fresh::kFloats) Encode(cell);
  }
  under_.Send(peer, data, phase);
}

void EncodedLinks::Receive(int peer, std::span<std::byte> data, ChunkPhase phase) {
  under_.Receive(peer, data, phase);
  const Range cells = CellsOf(data);
  for (std::size_t cell = cells.begin; cell < cells.end; ++cell) {
    Checked(peer, BytesOf(cell), FloatsOf(cell).size());
    Decode(cell);
  }
}

void EncodedLinks::ReceiveAdd(int peer, std::span<std::byte> data, std::span<std::byte> scratch,
                              ChunkPhase phase) {
  under_.Receive(peer, scratch.first(data.size()), phase);
  const Range cells = CellsOf(data);
  for (std::size_t cell = cells.begin; cell < cells.end; ++cell) {
    if (fresh_[cell] == Fresh::kBytes) Decode(cell);  // it was sent, so others have these bytes
    const std::span<float> floats = FloatsOf(cell);
    const auto theirs = scratch.subspan((cell - cells.begin) * cell_bytes_, BytesOf(cell).size());
    codec_.Add(Checked(peer, theirs, floats.size()), 0, 1, floats);
    fresh_[cell] = Fresh::kFloats;
  }
}

// `Links` carries bytes alone, so that algorithms can sum anything. Which cells they are follows
// from where they lie in the image, of which `data` is always a part.
EncodedLinks::Range EncodedLinks::CellsOf(std::span<const std::byte> data) const {
  const auto offset = static_cast<std::size_t>(data.data() - std::as_bytes(wire_).data());
  return {offset / cell_bytes_, (offset + data.size()) / cell_bytes_};
}

std::span<float> EncodedLinks::FloatsOf(std::size_t cell) const {
  const std::size_t begin = cell * cell_floats_;
  return message_.data.subspan(begin, std::min(cell_floats_, message_.data.size() - begin));
}

std::span<std::byte> EncodedLinks::BytesOf(std::size_t cell) const {
  return std::as_writable_bytes(wire_).subspan(cell * cell_bytes_,
                                               codec_.EncodedBytes(FloatsOf(cell).size()));
}

void EncodedLinks::Encode(std::size_t cell) {
  codec_.Encode(FloatsOf(cell), {message_.offset + cell * cell_floats_, message_.step},
                BytesOf(cell));
  fresh_[cell] = Fresh::kBytes;
}

void EncodedLinks::Decode(std::size_t cell) {
  const std::span<float> floats = FloatsOf(cell);
  codec_.Decode({BytesOf(cell), floats.size()}, 0, floats);
  fresh_[cell] = Fresh::kBoth;
}

Encoding EncodedLinks::Checked(int peer, std::span<const std::byte> bytes,
                               std::size_t elements) const {
  const Encoding encoding{bytes, elements};
  const std::string damage = codec_.Validate(encoding);
  if (!damage.empty()) throw CommError(NameOf(peer), "receiving", damage);
  return encoding;
}

}  // namespace ringside
