#include "ringside/paramserver/wire/payload.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

std::vector<std::byte> Bytes(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<float> Iota(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) + 1;
  return values;
}

TEST(FloatReader, ReadsAFloatThatLiesAcrossABorder) {
  const std::vector<std::size_t> cuts{5, 6, 7, 7, 9};
  const OwnedPayload payload(Bytes({1, 2, 3}), cuts);
  FloatReader reader(payload.pieces());
  std::vector<float> out(3);
  reader.Assign(out);
  EXPECT_EQ(out, (std::vector<float>{1, 2, 3}));
}

TEST(FloatReader, ReadsTheSameWhereverTheBordersAre) {
  std::mt19937 random(7);
  const std::vector<float> values = Iota(100);
  for (int round = 0; round < 200; ++round) {
    std::multiset<std::size_t> cuts;
    for (int cut = 0; cut < 20; ++cut) cuts.insert(random() % 401);
    const OwnedPayload payload(Bytes(values), std::vector<std::size_t>(cuts.begin(), cuts.end()));
    FloatReader reader(payload.pieces());
    std::vector<float> out(100, 1000);
    const std::size_t half = random() % 101;
    reader.Assign(std::span(out).first(half));
    reader.Add(std::span(out).subspan(half));
    for (std::size_t i = 0; i < 100; ++i) {
      ASSERT_EQ(out[i], values[i] + (i < half ? 0 : 1000)) << "float " << i << ", round " << round;
    }
  }
}

TEST(FloatReader, CountsEveryByteItMoves) {
  const OwnedPayload payload(Iota(10));
  FloatReader reader(payload.pieces());
  std::vector<float> out(5);
  reader.Assign(out);
  reader.Add(out);
  EXPECT_EQ(reader.count().assigned, 20);
  EXPECT_EQ(reader.count().added, 20);
}

TEST(FloatReader, RefusesToReadPastTheEnd) {
  const OwnedPayload payload(std::vector<std::byte>(6));
  FloatReader reader(payload.pieces());
  std::vector<float> out(2);
  EXPECT_THROW(reader.Assign(out), InternalError);
}

TEST(Payload, CountsItsBytes) {
  EXPECT_EQ(OwnedPayload(Iota(3)).bytes(), 12);
  EXPECT_EQ(OwnedPayload(std::vector<std::byte>()).bytes(), 0);
}

}  // namespace
}  // namespace ringside
