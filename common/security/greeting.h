#ifndef RINGSIDE_COMMON_SECURITY_GREETING_H_
#define RINGSIDE_COMMON_SECURITY_GREETING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ringside/common/security/handshake_mac.h"

namespace ringside {

/// What each end of a connection sends first: who it is, and a proof that it knows the members'
/// token. Three numbers, little-endian, and then the proof (`HandshakeMac`): a magic number of the
/// protocol, its version, and the index of the sender.
inline constexpr std::size_t kGreetingBytes = 12 + kMacBytes;
using Greeting = std::array<std::byte, kGreetingBytes>;

/// Makes and checks the greetings of one protocol. A value. Thread-safe.
class Greeter {
 public:
  Greeter(std::uint32_t magic, std::uint32_t version, HandshakeMac mac);

  /// The greeting of rank `from` to rank `to`. `index` is the sender's number in its protocol.
  Greeting Make(std::uint32_t index, int from, int to) const;
  /// What is wrong with a greeting from rank `from` to rank `to`, after "because"; empty: nothing.
  std::string FlawOf(std::span<const std::byte, kGreetingBytes> greeting, int from, int to) const;
  /// The index in a greeting, which may be anybody's.
  static std::uint32_t IndexOf(std::span<const std::byte, kGreetingBytes> greeting);

 private:
  std::uint32_t magic_;
  std::uint32_t version_;
  HandshakeMac mac_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SECURITY_GREETING_H_
