#include "ringside/common/security/handshake_mac.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>

#include "ringside/common/base/hex.h"

namespace ringside {
namespace {

TEST(HandshakeMacTest, IsTheHmacOfTheText) {
  const HandshakeMac mac("token", "job", 4);
  // printf 'ringside link v1|job|4|1|3' | openssl dgst -sha256 -hmac token
  EXPECT_EQ(ToHex(mac.Make(1, 3)),
            "90b683f8c75594095488f3aa1510dd5415be68180e2900491c4787ffb9b47dbe");
}

TEST(HandshakeMacTest, ChecksWhatItMakes) {
  const HandshakeMac mac("token", "job", 4);
  EXPECT_TRUE(mac.Check(mac.Make(1, 3), 1, 3));
}

TEST(HandshakeMacTest, RefusesEverythingElse) {
  const HandshakeMac mac("token", "job", 4);
  const auto proof = mac.Make(1, 3);
  EXPECT_FALSE(mac.Check(proof, 3, 1)) << "shown back to the one who made it";
  EXPECT_FALSE(mac.Check(proof, 1, 2));
  EXPECT_FALSE(HandshakeMac("another", "job", 4).Check(proof, 1, 3));
  EXPECT_FALSE(HandshakeMac("token", "another", 4).Check(proof, 1, 3));
  EXPECT_FALSE(HandshakeMac("token", "job", 5).Check(proof, 1, 3));
  auto damaged = proof;
  damaged.back() ^= std::byte{1};
  EXPECT_FALSE(mac.Check(damaged, 1, 3));
}

TEST(DeriveToken, IsTheHmacOfTheNonce) {
  // printf 'ringside members v1|nonce' | openssl dgst -sha256 -hmac token
  EXPECT_EQ(DeriveToken("token", "nonce"),
            "0a12b5d38e40fa366d2b41471b590fe060d41624cb7357505bb3b21a0a674d2a");
  EXPECT_NE(DeriveToken("token", "nonce"), DeriveToken("token", "another"));
  EXPECT_NE(DeriveToken("token", "nonce"), DeriveToken("another", "nonce"));
}

}  // namespace
}  // namespace ringside
