#include "ringside/ring/transports/handshake_mac.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "ringside/common/core/errors.h"
#include "ringside/common/security/secrets.h"

namespace ringside {

std::array<std::byte, kMacBytes> HandshakeMac::Make(int from, int to) const {
  const std::string text = fmt::format("ringside link v1|{}|{}|{}|{}", prefix_, world_, from, to);
  std::array<std::byte, kMacBytes> proof;
  unsigned length = 0;
  const auto* made = HMAC(EVP_sha256(), token_.data(), static_cast<int>(token_.size()),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                          reinterpret_cast<unsigned char*>(proof.data()), &length);
  if (made == nullptr || length != kMacBytes) throw InternalError("HMAC-SHA256 failed");
  return proof;
}

bool HandshakeMac::Check(std::span<const std::byte, kMacBytes> shown, int from, int to) const {
  const auto expected = Make(from, to);
  return SecretsEqual(shown, expected);
}

}  // namespace ringside
