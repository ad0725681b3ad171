#include "common/flat_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "common/errors.h"
#include "common/memory_region.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string SharedName(const std::string& suffix) {
  return "/ringside-test-" + std::to_string(getpid()) + "-" + suffix;
}

void ExpectTwoZeroedVectors(const FlatSpace& space, std::size_t size) {
  EXPECT_EQ(space.params().size(), size);
  EXPECT_EQ(space.grads().size(), size);
  const auto zero = [](float value) { return value == 0; };
  EXPECT_TRUE(std::ranges::all_of(space.params(), zero));
  EXPECT_TRUE(std::ranges::all_of(space.grads(), zero));
  std::ranges::fill(space.params(), 1.0F);
  EXPECT_TRUE(std::ranges::all_of(space.grads(), zero)) << "the vectors overlap";
}

class FlatSpaceSizeTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(FlatSpaceSizeTest, HoldsTwoZeroedVectorsInOrdinaryMemory) {
  const FlatSpace space(GetParam());
  EXPECT_EQ(space.memory_kind(), MemoryKind::kOrdinary);
  ExpectTwoZeroedVectors(space, GetParam());
}

TEST_P(FlatSpaceSizeTest, HoldsTwoZeroedVectorsInSharedMemory) {
  const FlatSpace space(GetParam(), SharedName("size"));
  EXPECT_EQ(space.memory_kind(), MemoryKind::kShared);
  ExpectTwoZeroedVectors(space, GetParam());
}

TEST_P(FlatSpaceSizeTest, VectorsAreAlignedForVectorInstructions) {
  const FlatSpace space(GetParam());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(space.params().data()) % 64, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(space.grads().data()) % 64, 0U);
}

INSTANTIATE_TEST_SUITE_P(Sizes, FlatSpaceSizeTest, ::testing::Values(0, 1, 1023, 1024, 100000));

TEST(FlatSpaceTest, MovingKeepsViewsValid) {
  FlatSpace space(10);
  const std::span<float> params = space.params();
  params[3] = 5;
  const FlatSpace moved = std::move(space);
  EXPECT_EQ(moved.params().data(), params.data());
  EXPECT_EQ(moved.params()[3], 5);
}

TEST(MemoryRegionTest, AttachedMemoryIsTheSameMemory) {
  const MemoryRegion owner = MemoryRegion::CreateShared(SharedName("attach"), 8192);
  const MemoryRegion guest = MemoryRegion::AttachShared(SharedName("attach"), 8192);
  EXPECT_NE(owner.data(), guest.data());
  std::memcpy(owner.data() + 5000, "hello", 6);
  EXPECT_STREQ(reinterpret_cast<const char*>(guest.data() + 5000), "hello");
}

TEST(MemoryRegionTest, AttachingToAnotherSizeIsRefused) {
  const MemoryRegion owner = MemoryRegion::CreateShared(SharedName("size"), 8192);
  EXPECT_THAT([] { MemoryRegion::AttachShared(SharedName("size"), 4096); },
              ThrowsMessage<CommError>(HasSubstr("it has 8192 bytes, expected 4096")));
}

TEST(MemoryRegionTest, AttachingToNothingNamesIt) {
  EXPECT_THAT([] { MemoryRegion::AttachShared(SharedName("nothing"), 4096); },
              ThrowsMessage<CommError>(HasSubstr(SharedName("nothing"))));
}

TEST(MemoryRegionTest, TheNameGoesWithItsCreatorAlone) {
  const std::string name = SharedName("gone");
  MemoryRegion guest;
  {
    const MemoryRegion owner = MemoryRegion::CreateShared(name, 4096);
    { const MemoryRegion passing = MemoryRegion::AttachShared(name, 4096); }
    guest = MemoryRegion::AttachShared(name, 4096);
    guest.data()[0] = std::byte{7};
  }
  EXPECT_EQ(guest.data()[0], std::byte{7}) << "mapped memory outlives its name";
  EXPECT_THROW(MemoryRegion::AttachShared(name, 4096), CommError);
}

TEST(MemoryRegionTest, ANameInUseIsRefused) {
  const MemoryRegion owner = MemoryRegion::CreateShared(SharedName("twice"), 4096);
  EXPECT_THROW(MemoryRegion::CreateShared(SharedName("twice"), 4096), MissingBackendError);
  EXPECT_NO_THROW(MemoryRegion::AttachShared(SharedName("twice"), 4096)) << "the owner's is intact";
}

TEST(MemoryRegionTest, TooLittleSharedMemorySaysHowMuchIsNeeded) {
  const std::size_t exabyte = std::size_t{1} << 60;
  EXPECT_THAT([&] { MemoryRegion::CreateShared(SharedName("huge"), exabyte); },
              ThrowsMessage<MissingBackendError>(HasSubstr(std::to_string(exabyte) + " bytes")));
  EXPECT_THROW(MemoryRegion::AttachShared(SharedName("huge"), exabyte), CommError)
      << "nothing is left behind";
}

}  // namespace
}  // namespace ringside
