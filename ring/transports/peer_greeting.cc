#include "ringside/ring/transports/peer_greeting.h"

#include <bit>
#include <cstring>

namespace ringside {

static_assert(std::endian::native == std::endian::little);

PeerGreeting MakePeerGreeting(const HandshakeMac& mac, int from, int to) {
  return {.rank = static_cast<std::uint32_t>(from), .proof = mac.Make(from, to)};
}

PeerGreeting ReadPeerGreeting(std::span<const std::byte> bytes) {
  PeerGreeting greeting;
  std::memcpy(&greeting, bytes.data(), kPeerGreetingBytes);
  return greeting;
}

std::string FlawOf(const PeerGreeting& greeting, const HandshakeMac& mac, int from, int to) {
  if (greeting.magic != PeerGreeting::kMagic) return "it does not speak this protocol";
  if (greeting.version != PeerGreeting::kVersion)
    return "it speaks another version of the protocol";
  if (!mac.Check(greeting.proof, from, to)) return "it does not know the token of this job";
  return {};
}

}  // namespace ringside
