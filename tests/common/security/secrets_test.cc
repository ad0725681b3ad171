#include "ringside/common/security/secrets.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "ringside/common/base/hex.h"

namespace ringside {
namespace {

TEST(RandomHex, IsAsLongAsAskedAndNeverTheSame) {
  EXPECT_EQ(FromHex(RandomHex(16)).size(), 16U);
  EXPECT_EQ(RandomHex(0), "");
  EXPECT_NE(RandomHex(16), RandomHex(16));
}

TEST(MakeToken, Has256BitsOfItsOwn) {
  EXPECT_EQ(FromHex(MakeToken()).size(), 32U);
  EXPECT_NE(MakeToken(), MakeToken());
}

TEST(SecretsEqual, ComparesEveryCharacter) {
  const std::string token = MakeToken();
  EXPECT_TRUE(SecretsEqual(token, std::string(token)));
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string other = token;
    other[i] = other[i] == '0' ? '1' : '0';
    EXPECT_FALSE(SecretsEqual(token, other)) << i;
  }
}

TEST(SecretsEqual, IsFalseForAnotherLength) {
  const std::string token = MakeToken();
  EXPECT_FALSE(SecretsEqual(token, token.substr(1)));
  EXPECT_FALSE(SecretsEqual(token, token.substr(0, 63)));
  EXPECT_FALSE(SecretsEqual(token, token + token));
  EXPECT_FALSE(SecretsEqual("", token));
  EXPECT_FALSE(SecretsEqual(token, ""));
  EXPECT_TRUE(SecretsEqual("", ""));
}

TEST(SecretsEqual, TakesBytes) {
  const std::array left{std::byte{1}, std::byte{2}};
  EXPECT_TRUE(SecretsEqual(left, std::array{std::byte{1}, std::byte{2}}));
  EXPECT_FALSE(SecretsEqual(left, std::array{std::byte{1}, std::byte{3}}));
}

}  // namespace
}  // namespace ringside
