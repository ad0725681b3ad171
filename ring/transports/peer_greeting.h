#ifndef RINGSIDE_RING_TRANSPORTS_PEER_GREETING_H_
#define RINGSIDE_RING_TRANSPORTS_PEER_GREETING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ringside/common/security/handshake_mac.h"

namespace ringside {

/// With this a connection between two ranks begins, in each direction, the calling rank's first: 44
/// bytes, numbers little-endian.
struct PeerGreeting {
  static constexpr std::uint32_t kMagic = 0x47525352;  // "RSRG"
  static constexpr std::uint32_t kVersion = 1;

  std::uint32_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t rank = 0;
  std::array<std::byte, kMacBytes> proof{};  ///< See `HandshakeMac`.
};
constexpr std::size_t kPeerGreetingBytes = 12 + kMacBytes;
static_assert(sizeof(PeerGreeting) == kPeerGreetingBytes);

/// The greeting with which rank `from` begins a connection with rank `to`.
PeerGreeting MakePeerGreeting(const HandshakeMac& mac, int from, int to);
/// What the first `kPeerGreetingBytes` of `bytes` say. There are as many.
PeerGreeting ReadPeerGreeting(std::span<const std::byte> bytes);
/// What is wrong with a greeting from rank `from` to rank `to`, after "because"; empty: nothing.
std::string FlawOf(const PeerGreeting& greeting, const HandshakeMac& mac, int from, int to);

}  // namespace ringside

#endif  // RINGSIDE_RING_TRANSPORTS_PEER_GREETING_H_
