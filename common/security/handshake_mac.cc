#include "ringside/common/security/handshake_mac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <sstream>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/hex.h"
#include "ringside/common/security/secrets.h"

namespace ringside {

namespace {

std::array<std::byte, kMacBytes> Hmac(const std::string& key, const std::string& text) {
  std::array<std::byte, kMacBytes> mac;
  unsigned length = 0;
  const auto* made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                          reinterpret_cast<unsigned char*>(mac.data()), &length);
  if (made == nullptr || length != kMacBytes) throw InternalError("HMAC-SHA256 failed");
  return mac;
}

}  // namespace

std::array<std::byte, kMacBytes> HandshakeMac::Make(int from, int to) const {
  std::ostringstream out;
  out << "ringside link v1|" << prefix_ << '|' << world_ << '|' << from << '|' << to;
  return Hmac(token_, out.str());
}

bool HandshakeMac::Check(std::span<const std::byte, kMacBytes> shown, int from, int to) const {
  const auto expected = Make(from, to);
  return SecretsEqual(shown, expected);
}

std::string DeriveToken(const std::string& token, const std::string& nonce) {
  return ToHex(Hmac(token, "ringside members v1|" + nonce));
}

}  // namespace ringside
