#include "ringside/paramserver/transports/tcp/received_payloads.h"

#include <gtest/gtest.h>

#include <vector>

namespace ringside {
namespace {

TEST(ReceivedPayloads, UseTheirMemoryAgain) {
  ReceivedPayloads payloads;
  for (int round = 0; round < 5; ++round) {
    std::vector<ReceivedPayloads::Taken> taken;
    for (int i = 0; i < 40; ++i) taken.push_back(payloads.Take(1000));
    EXPECT_EQ(taken.front()->bytes(), 1000U);
  }
  EXPECT_EQ(payloads.memory(), 40 * 1000U);
  EXPECT_EQ(payloads.Take(0)->bytes(), 0U);
  EXPECT_EQ(payloads.memory(), 40 * 1000U);
}

// The long payload is given back last, so without classes the next short one would get its memory.
TEST(ReceivedPayloads, ShortOnesDoNotTakeTheMemoryOfLongOnes) {
  constexpr std::size_t kLong = 1 << 20;
  constexpr std::size_t kShort = 100;
  ReceivedPayloads payloads;
  for (int round = 0; round < 20; ++round) {
    payloads.Take(kLong).reset();
    std::vector<ReceivedPayloads::Taken> taken;
    for (int i = 0; i < 10; ++i) taken.push_back(payloads.Take(kShort));
    payloads.Take(kLong).reset();
  }
  EXPECT_EQ(payloads.memory(), kLong + 10 * kShort);
}

}  // namespace
}  // namespace ringside
