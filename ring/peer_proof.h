#ifndef RINGSIDE_RING_PEER_PROOF_H_
#define RINGSIDE_RING_PEER_PROOF_H_

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace ringside {

inline constexpr std::size_t kProofBytes = 32;

/// What one end of a connection shows to the other: HMAC-SHA256, keyed with the job's token, over
/// job prefix, world size, its own rank and the other's. The token itself never travels.
class PeerProof {
 public:
  PeerProof(std::string token, std::string prefix, int world)
      : token_(std::move(token)), prefix_(std::move(prefix)), world_(world) {}

  std::array<std::byte, kProofBytes> Make(int from, int to) const;
  /// In constant time.
  bool Check(std::span<const std::byte, kProofBytes> shown, int from, int to) const;

 private:
  std::string token_;
  std::string prefix_;
  int world_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_PEER_PROOF_H_
