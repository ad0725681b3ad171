#include "experiments/job/token.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <array>

#include "common/errors.h"

namespace ringside {

std::string MakeToken() {
  std::array<unsigned char, 32> bits;
  if (RAND_bytes(bits.data(), bits.size()) != 1) {
    throw InternalError("no random numbers for the job's token");
  }
  std::string token;
  for (const unsigned char byte : bits) token += fmt::format("{:02x}", byte);
  return token;
}

bool TokensEqual(std::string_view left, std::string_view right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace ringside
