#include "ring/peer_proof.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "common/errors.h"

namespace ringside {

std::array<std::byte, kProofBytes> PeerProof::Make(int from, int to) const {
  const std::string text = fmt::format("ringside link v1|{}|{}|{}|{}", prefix_, world_, from, to);
  std::array<std::byte, kProofBytes> proof;
  unsigned length = 0;
  const auto* made = HMAC(EVP_sha256(), token_.data(), static_cast<int>(token_.size()),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                          reinterpret_cast<unsigned char*>(proof.data()), &length);
  if (made == nullptr || length != kProofBytes) throw InternalError("HMAC-SHA256 failed");
  return proof;
}

bool PeerProof::Check(std::span<const std::byte, kProofBytes> shown, int from, int to) const {
  const auto expected = Make(from, to);
  return CRYPTO_memcmp(shown.data(), expected.data(), kProofBytes) == 0;
}

}  // namespace ringside
