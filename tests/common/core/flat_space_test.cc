#include "ringside/common/core/flat_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/base/memory_region.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

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
  const FlatSpace space(GetParam(), "size");
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

TEST(FlatSpaceTest, SharingKeepsViewsAndValues) {
  FlatSpace space(5000);
  const std::span<float> params = space.params();
  params[4999] = 1;
  space.Share("shared later");
  EXPECT_EQ(space.params().data(), params.data());
  EXPECT_EQ(space.memory_kind(), MemoryKind::kShared);
  const FlatSpace guest = FlatSpace::Attach(5000, space.shared_handle());
  EXPECT_EQ(guest.params()[4999], 1);
  params[0] = 2;
  EXPECT_EQ(guest.params()[0], 2);
  const std::string handle = space.shared_handle();
  space.Share("again");
  EXPECT_EQ(space.shared_handle(), handle);
}

TEST(FlatSpaceTest, AnAttachedSpaceIsTheSameSpace) {
  const FlatSpace space(1000, "space");
  const FlatSpace guest = FlatSpace::Attach(1000, space.shared_handle());
  space.params()[999] = 1;
  space.grads()[999] = 2;
  EXPECT_EQ(guest.params()[999], 1);
  EXPECT_EQ(guest.grads()[999], 2);
}

/// Every source of shared memory alone.
class SharedMemoryTest : public ::testing::TestWithParam<SharedMemorySources> {};

TEST_P(SharedMemoryTest, AttachedMemoryIsTheSameMemory) {
  const MemoryRegion owner = MemoryRegion::CreateShared("attach", 8192, GetParam());
  const MemoryRegion guest = MemoryRegion::AttachShared(owner.handle(), 8192);
  EXPECT_NE(owner.data(), guest.data());
  std::memcpy(owner.data() + 5000, "hello", 6);
  EXPECT_STREQ(reinterpret_cast<const char*>(guest.data() + 5000), "hello");
}

TEST_P(SharedMemoryTest, AnotherProcessAttaches) {
  const MemoryRegion owner = MemoryRegion::CreateShared("attach", 8192, GetParam());
  const pid_t child = fork();
  if (child == 0) {
    // Only through the handle: a descriptor that was inherited is closed.
    closefrom(STDERR_FILENO + 1);
    MemoryRegion::AttachShared(owner.handle(), 8192).data()[100] = std::byte{7};
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(owner.data()[100], std::byte{7});
}

TEST_P(SharedMemoryTest, GoesWithItsCreatorButStaysMapped) {
  std::string handle;
  MemoryRegion guest;
  {
    const MemoryRegion owner = MemoryRegion::CreateShared("gone", 4096, GetParam());
    handle = owner.handle();
    guest = MemoryRegion::AttachShared(handle, 4096);
    guest.data()[0] = std::byte{7};
  }
  EXPECT_EQ(guest.data()[0], std::byte{7});
  EXPECT_THROW(MemoryRegion::AttachShared(handle, 4096), CommError);
}

INSTANTIATE_TEST_SUITE_P(Sources, SharedMemoryTest,
                         ::testing::Values(SharedMemorySources{.directory = ""},
                                           SharedMemorySources{.anonymous = false}),
                         [](const auto& source) {
                           return source.param.anonymous ? "Anonymous" : "Directory";
                         });

/// More than a process can address.
constexpr std::size_t kTooMuch = std::size_t{1} << 60;

TEST(MemoryRegionTest, NoRoomIsALackOfResourcesThatNamesTheLimit) {
  EXPECT_THAT([] { MemoryRegion::Ordinary(kTooMuch); },
              ThrowsMessage<ResourceError>(
                  AllOf(HasSubstr("1152921504606846976 bytes of memory"), HasSubstr("ulimit -v"))));
  EXPECT_THAT([] { MemoryRegion::Ordinary(SIZE_MAX); },
              ThrowsMessage<ResourceError>(HasSubstr("ulimit -v")));
}

// The owner has done nothing wrong.
TEST(MemoryRegionTest, NoRoomForSharedMemoryOfAnotherIsNotItsOwnersFault) {
  const FileDescriptor file(memfd_create("large", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), kTooMuch), 0) << std::strerror(errno);
  struct stat stats {};
  ASSERT_EQ(fstat(file.get(), &stats), 0) << std::strerror(errno);
  const std::string handle = "/proc/self/fd/" + std::to_string(file.get()) + "#" +
                             std::to_string(stats.st_dev) + "." + std::to_string(stats.st_ino);
  EXPECT_THAT([&] { MemoryRegion::AttachShared(handle, kTooMuch); },
              ThrowsMessage<ResourceError>(HasSubstr("ulimit -v")));
}

TEST(MemoryRegionTest, AttachingToAnotherSizeIsRefused) {
  const MemoryRegion owner = MemoryRegion::CreateShared("size", 8192);
  EXPECT_THAT([&] { MemoryRegion::AttachShared(owner.handle(), 4096); },
              ThrowsMessage<CommError>(HasSubstr("it has 8192 bytes, expected 4096")));
}

TEST(MemoryRegionTest, AttachingToNothingNamesIt) {
  EXPECT_THAT([] { MemoryRegion::AttachShared("/proc/0/fd/1#1.2", 4096); },
              ThrowsMessage<CommError>(HasSubstr("/proc/0/fd/1")));
}

TEST(MemoryRegionTest, ADescriptorThatHasAnotherFileByNowIsRefused) {
  const MemoryRegion owner = MemoryRegion::CreateShared("owner", 4096);
  const std::string path = owner.handle().substr(0, owner.handle().find('#'));
  EXPECT_THAT([&] { MemoryRegion::AttachShared(path + "#1.2", 4096); },
              ThrowsMessage<CommError>(HasSubstr("it is gone")));
}

TEST(MemoryRegionTest, WhereOneSourceHasNoneTheNextOneIsUsed) {
  const SharedMemorySources sources{.anonymous = false, .directory = "/no such directory"};
  EXPECT_THROW(MemoryRegion::CreateShared("none", 4096, sources), MissingBackendError);
  EXPECT_NO_THROW(MemoryRegion::CreateShared("some", 4096, {.directory = "/no such directory"}));
}

TEST(MemoryRegionTest, TooLittleSharedMemorySaysHowMuchIsNeededAndHowMuchThereIs) {
  const std::size_t exabyte = std::size_t{1} << 60;
  EXPECT_THAT([&] { MemoryRegion::CreateShared("huge", exabyte); },
              ThrowsMessage<MissingBackendError>(
                  AllOf(HasSubstr(std::to_string(exabyte) + " bytes"), HasSubstr("/dev/shm has "),
                        HasSubstr("the machine has "), HasSubstr(" bytes left"))));
}

}  // namespace
}  // namespace ringside
