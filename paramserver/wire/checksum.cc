#include "ringside/paramserver/wire/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ringside {

std::uint32_t ChecksumOf(FrameHeader header, std::span<const Piece> payload) {
  header.checksum.reset();
  header.repeats = 0;  // a push that is sent again keeps its checksum
  const auto encoded = EncodeHeader(header);
  const XXH64_hash_t seed = XXH3_64bits(encoded.data(), encoded.size());
  if (payload.size() == 1) {
    const Piece piece = payload.front();
    return static_cast<std::uint32_t>(XXH3_64bits_withSeed(piece.data(), piece.size_bytes(), seed));
  }
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_64bits_reset_withSeed(&state, seed);
  for (const Piece piece : payload) XXH3_64bits_update(&state, piece.data(), piece.size_bytes());
  return static_cast<std::uint32_t>(XXH3_64bits_digest(&state));
}

}  // namespace ringside
