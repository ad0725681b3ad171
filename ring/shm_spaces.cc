#include "ring/shm_spaces.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace ringside {
namespace {

/// What ranks tell each other of their vectors.
struct Card {
  std::uint64_t elements = 0;
  std::array<char, 120> handle = {};  // empty: not in shared memory
};

std::vector<Card> ExchangeCards(Collective& collective, int ranks, const FlatSpace& own) {
  Card mine{.elements = own.size()};
  const std::string& handle = own.shared_handle();
  if (handle.size() < mine.handle.size()) std::ranges::copy(handle, mine.handle.begin());
  const auto bytes = collective.AllGather(std::as_bytes(std::span(&mine, 1)));
  std::vector<Card> cards(static_cast<std::size_t>(ranks));
  std::memcpy(cards.data(), bytes.data(), bytes.size());
  return cards;
}

bool Within(std::span<const float> part, std::span<const float> whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

}  // namespace

ShmSpaces::ShmSpaces(Collective& collective, int rank, int ranks, const FlatSpace& own)
    : own_(&own) {
  const std::vector<Card> cards = ExchangeCards(collective, ranks, own);
  const auto fits = [&](const Card& card) {
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

bool ShmSpaces::Hold(std::span<const float> data) const {
  return !empty() && (Within(data, own_->params()) || Within(data, own_->grads()));
}

void ShmSpaces::Locate(std::span<const float> data, std::span<float*> vectors) const {
  const bool params = Within(data, own_->params());
  const auto offset = data.data() - (params ? own_->params() : own_->grads()).data();
  for (std::size_t rank = 0; rank < origins_.size(); ++rank) {
    vectors[rank] = (params ? origins_[rank].params : origins_[rank].grads) + offset;
  }
}

}  // namespace ringside
