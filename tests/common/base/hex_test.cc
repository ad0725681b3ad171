#include "ringside/common/base/hex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> AllBytes() {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<std::byte>(i));
  return bytes;
}

std::string ErrorOf(const std::string& hex) {
  try {
    FromHex(hex);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(Hex, HasTwoLowerCaseDigitsAByteHighestFirst) {
  const std::vector<std::byte> bytes{std::byte{0x00}, std::byte{0x0f}, std::byte{0xa9},
                                     std::byte{0xff}};
  EXPECT_EQ(ToHex(bytes), "000fa9ff");
  EXPECT_EQ(ToHex({}), "");
}

TEST(Hex, ComesBackAsTheSameBytes) {
  EXPECT_EQ(FromHex(ToHex(AllBytes())), AllBytes());
  EXPECT_TRUE(FromHex("").empty());
}

TEST(Hex, TakesDigitsOfEitherCase) { EXPECT_EQ(ToHex(FromHex("AbCdEF09")), "abcdef09"); }

// The characters beside digits and letters in ASCII, and text that std::stoi would accept.
TEST(Hex, RefusesWhatIsNoDigitAndNamesItsPlace) {
  for (const char wrong : {'/', ':', '@', 'G', '`', 'g', ' ', '+', '-', 'x', '\0'}) {
    EXPECT_THAT(ErrorOf(std::string("00") + wrong + "0"), HasSubstr("character 2 of ")) << wrong;
    EXPECT_THAT(ErrorOf(std::string("000") + wrong), HasSubstr("character 3 of ")) << wrong;
  }
}

TEST(Hex, RefusesHalfAByte) { EXPECT_THAT(ErrorOf("abc"), HasSubstr("3 hex digits")); }

}  // namespace
}  // namespace ringside
