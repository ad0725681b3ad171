#include "ringside/ring/shm/shm_spaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/ring/core/gather_values.h"

namespace ringside {
namespace {

/// What a rank publishes about its vectors.
struct SpaceDescriptor {
  std::uint64_t elements = 0;
  std::array<char, 120> handle = {};  // empty: the vectors are not in shared memory
};

std::vector<SpaceDescriptor> ExchangeDescriptors(Collective& collective, int ranks,
                                                 const FlatSpace& own) {
  SpaceDescriptor mine{.elements = own.size()};
  const std::string& handle = own.shared_handle();
  if (handle.size() < mine.handle.size()) std::ranges::copy(handle, mine.handle.begin());
  return GatherValues(collective, mine, ranks, "the exchange of shared vectors");
}

/// The handle ends at the first zero byte; another process may have sent none.
std::string HandleOf(const SpaceDescriptor& card) {
  return std::string(card.handle.begin(), std::ranges::find(card.handle, '\0'));
}

/// Processors fetch cache lines in pairs.
constexpr std::size_t kLineFloats = 128 / sizeof(float);

/// Returns where chunk `index` of `data` begins.
std::size_t Cut(std::span<const float> data, int chunks, int index) {
  if (index == chunks) return data.size();
  const std::size_t even =
      data.size() * static_cast<std::size_t>(index) / static_cast<std::size_t>(chunks);
  const std::size_t skew = reinterpret_cast<std::uintptr_t>(data.data()) / sizeof(float);
  const std::size_t past_line = (skew + even) % kLineFloats;
  return even > past_line ? even - past_line : 0;
}

}  // namespace

CacheAlignedChunk ChunkOf(std::span<const float> data, int chunks, int index) {
  if (index >= chunks) return {data.size(), data.size()};
  return {Cut(data, chunks, index), Cut(data, chunks, index + 1)};
}

ShmSpaces::ShmSpaces(Collective& collective, int rank, int ranks, const FlatSpace& own)
    : own_(&own) {
  const std::vector<SpaceDescriptor> cards = ExchangeDescriptors(collective, ranks, own);
  const auto fits = [&](const SpaceDescriptor& card) {
    return card.elements == own.size() && card.handle[0] != '\0';
  };
  if (!std::ranges::all_of(cards, fits)) return;
  guests_.reserve(cards.size());
  for (int other = 0; other < ranks; ++other) {
    const SpaceDescriptor& card = cards[static_cast<std::size_t>(other)];
    if (other != rank) guests_.push_back(FlatSpace::Attach(own.size(), HandleOf(card)));
    const FlatSpace& theirs = other == rank ? own : guests_.back();
    origins_.push_back({theirs.params().data(), theirs.grads().data()});
  }
}

bool ShmSpaces::Contains(const BucketMessage& message) const {
  if (empty() || message.vector == FlatVector::kNone) return false;
  const auto vector = message.vector == FlatVector::kParams ? own_->params() : own_->grads();
  const std::size_t size = message.data.size();
  const bool right = message.offset <= vector.size() && size <= vector.size() - message.offset &&
                     (size == 0 || message.data.data() == &vector[message.offset]);
  if (right) return true;
  throw InternalError(fmt::format(
      "a sum of bucket {}, step {} does not lie at elements {} to {} of the flat vector that it "
      "names",
      message.bucket, message.step, message.offset, message.offset + size));
}

void ShmSpaces::Locate(FlatVector vector, std::size_t offset, std::span<float*> addresses) const {
  for (std::size_t rank = 0; rank < origins_.size(); ++rank) {
    const Origins& theirs = origins_[rank];
    addresses[rank] = (vector == FlatVector::kParams ? theirs.params : theirs.grads) + offset;
  }
}

}  // namespace ringside
