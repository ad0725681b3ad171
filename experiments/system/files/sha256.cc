#include "ringside/experiments/system/files/sha256.h"

#include <openssl/evp.h>

#include <cerrno>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/hex.h"

namespace ringside {

std::array<std::byte, kSha256Bytes> Sha256(std::span<const std::byte> data) {
  std::array<std::byte, kSha256Bytes> digest;
  unsigned int size = 0;
  if (EVP_Digest(data.data(), data.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                 EVP_sha256(), nullptr) != 1 ||
      size != digest.size()) {
    throw ResourceError("a SHA-256 sum", ENOMEM);  // the algorithm is always there
  }
  return digest;
}

std::string Sha256Hex(std::span<const std::byte> data) { return ToHex(Sha256(data)); }

}  // namespace ringside
