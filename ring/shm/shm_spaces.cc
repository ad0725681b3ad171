#include "ringside/ring/shm/shm_spaces.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace ringside {
namespace {

/// What a rank tells the others about its vectors.
struct SpaceDescriptor {
  std::uint64_t elements = 0;
  std::array<char, 120> handle = {};  // empty: the vectors are not in shared memory
};

std::vector<SpaceDescriptor> ExchangeCards(Collective& collective, int ranks,
                                           const FlatSpace& own) {
  SpaceDescriptor mine{.elements = own.size()};
  const std::string& handle = own.shared_handle();
  if (handle.size() < mine.handle.size()) std::ranges::copy(handle, mine.handle.begin());
  const auto bytes = collective.AllGather(std::as_bytes(std::span(&mine, 1)));
  std::vector<SpaceDescriptor> cards(static_cast<std::size_t>(ranks));
  std::memcpy(cards.data(), bytes.data(), bytes.size());
  return cards;
}

bool Within(std::span<const std::byte> part, std::span<const float> whole) {
  const auto bytes = std::as_bytes(whole);
  return part.data() >= bytes.data() && part.data() + part.size() <= bytes.data() + bytes.size();
}

/// Processors fetch cache lines in pairs.
constexpr std::size_t kLineFloats = 128 / sizeof(float);

/// Returns where chunk `index` of `data` begins.
std::size_t Cut(std::span<const float> data, int shares, int index) {
  if (index == shares) return data.size();
  const std::size_t even =
      data.size() * static_cast<std::size_t>(index) / static_cast<std::size_t>(shares);
  const std::size_t skew = reinterpret_cast<std::uintptr_t>(data.data()) / sizeof(float);
  const std::size_t past_line = (skew + even) % kLineFloats;
  return even > past_line ? even - past_line : 0;
}

}  // namespace

CacheAlignedChunk ChunkOf(std::span<const float> data, int shares, int index) {
  if (index >= shares) return {data.size(), data.size()};
  return {Cut(data, shares, index), Cut(data, shares, index + 1)};
}

ShmSpaces::ShmSpaces(Collective& collective, int rank, int ranks, const FlatSpace& own)
    : own_(&own) {
  const std::vector<SpaceDescriptor> cards = ExchangeCards(collective, ranks, own);
  const auto fits = [&](const SpaceDescriptor& card) {
    return card.elements == own.size() && card.handle[0] != '\0';
  };
  if (!std::ranges::all_of(cards, fits)) return;
  guests_.reserve(cards.size());
  for (int other = 0; other < ranks; ++other) {
    const char* handle = cards[static_cast<std::size_t>(other)].handle.data();
    if (other != rank) guests_.push_back(FlatSpace::Attach(own.size(), handle));
    const FlatSpace& theirs = other == rank ? own : guests_.back();
    origins_.push_back({theirs.params().data(), theirs.grads().data()});
  }
}

bool ShmSpaces::Contains(std::span<const std::byte> data) const {
  return !empty() && (Within(data, own_->params()) || Within(data, own_->grads()));
}

void ShmSpaces::Locate(std::span<const float> data, std::span<float*> vectors) const {
  const bool params = Within(std::as_bytes(data), own_->params());
  const auto offset = data.data() - (params ? own_->params() : own_->grads()).data();
  for (std::size_t rank = 0; rank < origins_.size(); ++rank) {
    vectors[rank] = (params ? origins_[rank].params : origins_[rank].grads) + offset;
  }
}

std::byte* ShmSpaces::Locate(std::span<const std::byte> data, int rank) const {
  const bool params = Within(data, own_->params());
  const auto offset = data.data() - std::as_bytes(params ? own_->params() : own_->grads()).data();
  const Origins& theirs = origins_[static_cast<std::size_t>(rank)];
  return reinterpret_cast<std::byte*>(params ? theirs.params : theirs.grads) + offset;
}

}  // namespace ringside
