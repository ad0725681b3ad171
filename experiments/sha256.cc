#include "experiments/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "common/errors.h"

namespace ringside {

std::string Sha256Hex(std::span<const std::byte> data) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  if (EVP_Digest(data.data(), data.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw InternalError("SHA-256 failed");
  }
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace ringside
