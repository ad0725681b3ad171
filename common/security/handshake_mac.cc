#include "ringside/common/security/handshake_mac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <sstream>

#include "ringside/common/base/errors.h"
#include "ringside/common/security/secrets.h"

namespace ringside {

std::array<std::byte, kMacBytes> HandshakeMac::Make(int from, int to) const {
  std::ostringstream out;
  out << "ringside link v1|" << prefix_ << '|' << world_ << '|' << from << '|' << to;
  const std::string text = out.str();
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
