#ifndef RINGSIDE_COMMON_SECURITY_HANDSHAKE_MAC_H_
#define RINGSIDE_COMMON_SECURITY_HANDSHAKE_MAC_H_

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace ringside {

inline constexpr std::size_t kMacBytes = 32;

/// What each end of a connection shows to the other: an HMAC-SHA256 over the job's prefix, the
/// world size, its own rank and the other's. The key is the members' token, which is not sent.
class HandshakeMac {
 public:
  HandshakeMac(std::string token, std::string prefix, int world)
      : token_(std::move(token)), prefix_(std::move(prefix)), world_(world) {}

  std::array<std::byte, kMacBytes> Make(int from, int to) const;
  /// Whether `shown` is `Make(from, to)`. Compares in constant time.
  bool Check(std::span<const std::byte, kMacBytes> shown, int from, int to) const;

 private:
  std::string token_;
  std::string prefix_;
  int world_;
};

/// Another secret for each `nonce`, as 64 hex digits: the HMAC-SHA256 of `nonce` under `token`. Who
/// knows it does not know `token`.
std::string DeriveToken(const std::string& token, const std::string& nonce);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SECURITY_HANDSHAKE_MAC_H_
