#include "ringside/common/security/greeting.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

constexpr std::uint32_t kMagic = 0x41424344;
constexpr std::uint32_t kVersion = 7;

Greeter GreeterOf(const std::string& token, int world = 4) {
  return {kMagic, kVersion, HandshakeMac(token, "here", world)};
}

TEST(GreetingTest, TheRightOneHasNoFlaw) {
  const Greeter greeter = GreeterOf("the token");
  const Greeting greeting = greeter.Make(5, 1, 3);
  EXPECT_EQ(greeter.FlawOf(greeting, 1, 3), "");
  EXPECT_EQ(Greeter::IndexOf(greeting), 5U);
}

TEST(GreetingTest, LiesOnTheWireInTheOrderOfTheDescription) {
  const Greeting greeting = GreeterOf("the token").Make(0x01020304, 1, 3);
  EXPECT_EQ(greeting[0], std::byte{0x44});
  EXPECT_EQ(greeting[3], std::byte{0x41});
  EXPECT_EQ(greeting[4], std::byte{7});
  EXPECT_EQ(greeting[8], std::byte{0x04});
  EXPECT_EQ(greeting[11], std::byte{0x01});
}

TEST(GreetingTest, SaysWhatIsWrong) {
  const Greeter greeter = GreeterOf("the token");
  const Greeting right = greeter.Make(1, 1, 3);
  Greeting other = right;
  other[0] ^= std::byte{1};
  EXPECT_EQ(greeter.FlawOf(other, 1, 3), "it does not speak this protocol");
  other = right;
  other[4] ^= std::byte{2};
  EXPECT_EQ(greeter.FlawOf(other, 1, 3), "it speaks another version of the protocol");
  other = right;
  other[kGreetingBytes - 1] ^= std::byte{1};
  EXPECT_EQ(greeter.FlawOf(other, 1, 3), "it does not know the token of this job");
  const std::string unproved = "it does not know the token of this job";
  EXPECT_EQ(greeter.FlawOf(GreeterOf("the tokem").Make(1, 1, 3), 1, 3), unproved);
  EXPECT_EQ(greeter.FlawOf(GreeterOf("").Make(1, 1, 3), 1, 3), unproved);
  EXPECT_EQ(greeter.FlawOf(GreeterOf("the token", 5).Make(1, 1, 3), 1, 3), unproved);
  EXPECT_EQ(greeter.FlawOf(right, 1, 2), unproved) << "for another one";
  EXPECT_EQ(greeter.FlawOf(right, 3, 1), unproved) << "its own";
}

}  // namespace
}  // namespace ringside
