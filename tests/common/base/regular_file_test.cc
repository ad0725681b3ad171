#include "ringside/common/base/regular_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class RegularFileTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& content) const {
    std::ofstream(directory_.Path("file")) << content;
    return directory_.Path("file");
  }

  const TemporaryDirectory directory_;
};

TEST_F(RegularFileTest, ReadsAWholeFileUpToItsLimit) {
  EXPECT_EQ(RegularFile(Write("0123456789")).ReadAll(10), "0123456789");
  EXPECT_EQ(RegularFile(Write("")).ReadAll(0), "");
  const std::string long_text(200'000, 'x');
  EXPECT_EQ(RegularFile(Write(long_text)).ReadAll(200'000), long_text);
  EXPECT_THAT([&] { static_cast<void>(RegularFile(Write(long_text)).ReadAll(199'999)); },
              ThrowsMessage<DataError>(HasSubstr("it may be no longer than 199999 bytes")));
  // It has no size.
  EXPECT_THAT(RegularFile("/proc/self/status").ReadAll(100'000), HasSubstr("Pid:"));
  EXPECT_THAT([] { static_cast<void>(RegularFile("/proc/self/status").ReadAll(3)); },
              ThrowsMessage<DataError>(HasSubstr("it may be no longer than 3 bytes")));
}

TEST_F(RegularFileTest, ReadsParts) {
  const RegularFile file(Write("0123456789"));
  EXPECT_EQ(file.size(), 10U);
  std::array<std::byte, 4> part{};
  EXPECT_EQ(file.ReadAt(8, part), 2U);
  EXPECT_EQ(part[1], std::byte{'9'});
  EXPECT_EQ(file.ReadAt(10, part), 0U);
}

TEST_F(RegularFileTest, RefusesWhatIsNoRegularFileWithoutWaiting) {
  ASSERT_EQ(::mkfifo(directory_.Path("pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", directory_.Path("endless"));
  const auto opening = [this](const char* name) {
    return [path = directory_.Path(name)] { static_cast<void>(RegularFile(path)); };
  };
  EXPECT_THAT(opening("pipe"),
              ThrowsMessage<DataError>(HasSubstr("is a FIFO, not a regular file")));
  EXPECT_THAT(opening("endless"),
              ThrowsMessage<DataError>(HasSubstr("/endless: is a device, not")));
  EXPECT_THAT(opening("."), ThrowsMessage<DataError>(HasSubstr("is a directory, not")));
  EXPECT_THAT(opening("absent"), ThrowsMessage<DataError>(HasSubstr("cannot open: No such file")));
}

// A program that writes to it would take this for its reader.
TEST_F(RegularFileTest, DoesNotOpenAFifo) {
  ASSERT_EQ(::mkfifo(directory_.Path("pipe").c_str(), 0600), 0);
  const FileDescriptor opened(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(::inotify_add_watch(opened.get(), directory_.Path("pipe").c_str(), IN_OPEN), 0);
  EXPECT_THROW(RegularFile(directory_.Path("pipe")), DataError);
  std::array<char, 256> event;
  EXPECT_EQ(::read(opened.get(), event.data(), event.size()), -1);
  EXPECT_EQ(errno, EAGAIN);
}

}  // namespace
}  // namespace ringside
