// Steps and bytes: those of the algorithm, of the encoded data. A cell is as long as a segment or
// a power of two times shorter, so that segments hold whole cells and every rank's share of the
// data has many of them; the last one is filled up.
#include "ring/encoded_links.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/errors.h"

namespace ringside {
namespace {

constexpr std::size_t kLeastCellBytes = Links::kSegmentBytes >> 8;
static_assert((kLeastCellBytes << 8) == Links::kSegmentBytes);
static_assert(kLeastCellBytes % sizeof(float) == 0);
/// Ranks' shares differ by a cell, and so much is added to fill up the last: a per cent or two.
constexpr std::size_t kCellsPerRank = 64;

std::size_t CellBytes(std::size_t encoded_bytes, int world) {
  const std::size_t cells = kCellsPerRank * static_cast<std::size_t>(world);
  std::size_t bytes = Links::kSegmentBytes;
  while (bytes > kLeastCellBytes && bytes * cells > encoded_bytes) bytes /= 2;
  return bytes;
}

/// The most floats whose encoding fits into so many bytes.
std::size_t FloatsThatFit(const Codec& codec, std::size_t bytes) {
  std::size_t fit = 1;
  std::size_t too_many = 2 * bytes;
  while (fit + 1 < too_many) {
    const std::size_t middle = (fit + too_many) / 2;
    (codec.EncodedBytes(middle) <= bytes ? fit : too_many) = middle;
  }
  return fit;
}

}  // namespace

EncodedLinks::EncodedLinks(Links& under, int world, std::span<float> data, Codec& codec,
                           const CodecPlace& place, std::vector<float>& wire)
    : under_(under),
      data_(data),
      codec_(codec),
      place_(place),
      cell_bytes_(CellBytes(codec.EncodedBytes(data.size()), world)),
      cell_floats_(FloatsThatFit(codec, cell_bytes_)),
      fresh_((data.size() + cell_floats_ - 1) / cell_floats_, Fresh::kFloats) {
  const std::size_t floats = fresh_.size() * cell_bytes_ / sizeof(float);
  if (wire.size() < floats) wire.resize(floats);
  wire_ = std::span(wire).first(floats);
}

void EncodedLinks::Finish() {
  for (std::size_t cell = 0; cell < fresh_.size(); ++cell) {
    if (fresh_[cell] == Fresh::kFloats) Encode(cell);
    if (fresh_[cell] == Fresh::kBytes) Decode(cell);
  }
}

void EncodedLinks::Send(int peer, std::span<const std::byte> data) {
  const Range cells = CellsOf(data);
  for (std::size_t cell = cells.begin; cell < cells.end; ++cell) {
    if (fresh_[cell] == Fresh::kFloats) Encode(cell);
  }
  under_.Send(peer, data);
}

void EncodedLinks::Receive(int peer, std::span<std::byte> data) {
  under_.Receive(peer, data);
  const Range cells = CellsOf(data);
  for (std::size_t cell = cells.begin; cell < cells.end; ++cell) {
    Checked(peer, BytesOf(cell), FloatsOf(cell).size());
    Decode(cell);
  }
}

void EncodedLinks::ReceiveAdd(int peer, std::span<std::byte> data, std::span<std::byte> scratch) {
  under_.Receive(peer, scratch.first(data.size()));
  const Range cells = CellsOf(data);
  for (std::size_t cell = cells.begin; cell < cells.end; ++cell) {
    if (fresh_[cell] == Fresh::kBytes) Decode(cell);  // it was sent: that is what others have
    const std::span<float> floats = FloatsOf(cell);
    const auto theirs = scratch.subspan((cell - cells.begin) * cell_bytes_, BytesOf(cell).size());
    codec_.Add(Checked(peer, theirs, floats.size()), 0, 1, floats);
    fresh_[cell] = Fresh::kFloats;
  }
}

EncodedLinks::Range EncodedLinks::CellsOf(std::span<const std::byte> data) const {
  const auto offset = static_cast<std::size_t>(data.data() - std::as_bytes(wire_).data());
  return {offset / cell_bytes_, (offset + data.size()) / cell_bytes_};
}

std::span<float> EncodedLinks::FloatsOf(std::size_t cell) const {
  const std::size_t begin = cell * cell_floats_;
  return data_.subspan(begin, std::min(cell_floats_, data_.size() - begin));
}

std::span<std::byte> EncodedLinks::BytesOf(std::size_t cell) const {
  return std::as_writable_bytes(wire_).subspan(cell * cell_bytes_,
                                               codec_.EncodedBytes(FloatsOf(cell).size()));
}

void EncodedLinks::Encode(std::size_t cell) {
  codec_.Encode(FloatsOf(cell), {place_.offset + cell * cell_floats_, place_.step}, BytesOf(cell));
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
  const std::string damage = codec_.DamageOf(encoding);
  if (!damage.empty()) throw CommError(fmt::format("worker {}", peer), "receiving", damage);
  return encoding;
}

void EncodedAllReduce(const LinkAlgorithm& algorithm, Links& links, int rank, int world,
                      std::span<float> data, Codec& codec, const CodecPlace& place,
                      std::vector<float>& wire, std::span<std::byte> scratch) {
  EncodedLinks encoded(links, world, data, codec, place, wire);
  algorithm.all_reduce(encoded, rank, world, encoded.wire(), scratch);
  encoded.Finish();
}

}  // namespace ringside
