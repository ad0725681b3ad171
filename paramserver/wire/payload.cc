#include "ringside/paramserver/wire/payload.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "ringside/common/base/errors.h"

namespace ringside {

static_assert(std::endian::native == std::endian::little, "payloads are little-endian floats");

namespace {

// Unaligned loads: both loops vectorise, since memcpy of four bytes is a plain load.
void AssignRun(float* out, const std::byte* in, std::size_t count) {
  std::memcpy(out, in, count * sizeof(float));
}

void AddRun(float* sum, const std::byte* in, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    float value;
    std::memcpy(&value, in + i * sizeof(float), sizeof(float));
    sum[i] += value;
  }
}

}  // namespace

std::size_t Payload::bytes() const {
  std::size_t total = 0;
  for (const Piece& piece : pieces()) total += piece.size();
  return total;
}

OwnedPayload::OwnedPayload(std::vector<std::byte> bytes, std::span<const std::size_t> cuts)
    : bytes_(std::move(bytes)) {
  std::size_t begin = 0;
  for (const std::size_t cut : cuts) {
    pieces_.push_back(Piece(bytes_).subspan(begin, cut - begin));
    begin = cut;
  }
  pieces_.push_back(Piece(bytes_).subspan(begin));
}

OwnedPayload::OwnedPayload(std::span<const float> values)
    : OwnedPayload(
          std::vector<std::byte>(std::as_bytes(values).begin(), std::as_bytes(values).end())) {}

void JoinedPayload::Assign(const Payload& payload, std::size_t bytes) {
  bytes_.clear();
  for (const Piece& piece : payload.pieces()) {
    const Piece taken = piece.first(std::min(piece.size(), bytes - bytes_.size()));
    bytes_.insert(bytes_.end(), taken.begin(), taken.end());
  }
  piece_ = bytes_;
}

void FloatReader::Assign(std::span<float> out) {
  count_.assigned += out.size_bytes();
  Read(out, AssignRun);
}

void FloatReader::Add(std::span<float> sum) {
  count_.added += sum.size_bytes();
  Read(sum, AddRun);
}

template <typename Operation>
void FloatReader::Read(std::span<float> out, Operation operation) {
  std::array<std::byte, sizeof(float)> gathered;
  while (!out.empty()) {
    const Piece run = NextRun(out.size_bytes(), gathered);
    const std::size_t count = run.size() / sizeof(float);
    operation(out.data(), run.data(), count);
    out = out.subspan(count);
  }
}

// Returns the next whole floats of one piece, at most `wanted_bytes`. A float that crosses a border
// between pieces is put together in `gathered` and returned alone.
Piece FloatReader::NextRun(std::size_t wanted_bytes,
                           std::array<std::byte, sizeof(float)>& gathered) {
  std::size_t filled = 0;
  while (!pieces_.empty()) {
    const Piece rest = pieces_.front().subspan(offset_);
    const std::size_t whole = std::min(rest.size() / sizeof(float) * sizeof(float), wanted_bytes);
    if (filled == 0 && whole > 0) {
      offset_ += whole;
      return rest.first(whole);
    }
    const std::size_t take = std::min(rest.size(), sizeof(float) - filled);
    std::copy_n(rest.begin(), take, gathered.begin() + static_cast<std::ptrdiff_t>(filled));
    filled += take;
    offset_ += take;
    if (filled == sizeof(float)) return gathered;
    pieces_ = pieces_.subspan(1);
    offset_ = 0;
  }
  throw InternalError("read past the end of a payload");
}

}  // namespace ringside
