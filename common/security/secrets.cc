#include "ringside/common/security/secrets.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/hex.h"

namespace ringside {

std::string RandomHex(std::size_t bytes) {
  std::vector<unsigned char> random(bytes);
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) {
    throw InternalError("OpenSSL has no random numbers");
  }
  return ToHex(std::as_bytes(std::span(random)));
}

std::string MakeToken() {
  constexpr std::size_t kTokenBytes = 32;
  return RandomHex(kTokenBytes);
}

bool SecretsEqual(std::span<const std::byte> left, std::span<const std::byte> right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

bool SecretsEqual(std::string_view left, std::string_view right) {
  return SecretsEqual(std::as_bytes(std::span(left)), std::as_bytes(std::span(right)));
}

}  // namespace ringside
