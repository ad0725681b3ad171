#include "ringside/experiments/system/files/file_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/trusted_path.h"
#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

using ::testing::IsEmpty;

constexpr std::size_t kMebi = std::size_t{1} << 20;

/// A pipe stands for a disk: it takes little until somebody reads.
class SlowDisk {
 public:
  SlowDisk() {
    std::array<int, 2> fds;
    EXPECT_EQ(::pipe2(fds.data(), O_CLOEXEC), 0);
    read_ = FileDescriptor(fds[0]);
    write_ = FileDescriptor(fds[1]);
  }

  FileDescriptor TakeEnd() { return std::move(write_); }
  /// Until the writer has closed its end.
  std::string ReadAll() const { return ReadDescriptor(read_.get(), 8 * kMebi, "disk"); }
  void Take(std::size_t bytes) const {
    std::string taken(bytes, '\0');
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t count = ::read(read_.get(), taken.data() + done, bytes - done);
      ASSERT_GT(count, 0);
      done += static_cast<std::size_t>(count);
    }
  }

 private:
  FileDescriptor read_;
  FileDescriptor write_;
};

TEST(FileWriter, KeepsTheOrderOfEachFile) {
  const TemporaryDirectory directory;
  FileWriter writer;
  std::array<FileWriter::FileId, 2> files{};
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string path = directory.Path(std::to_string(i));
    files[i] = writer.Add(OpenForWriting(path, O_TRUNC), path);
  }
  std::string all;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = std::to_string(i) + '\n';
    all += text;
    for (const FileWriter::FileId file : files) writer.Append(file, text);
  }
  writer.Drain();
  for (std::size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(ReadFile(directory.Path(std::to_string(i)), kMebi), all);
    EXPECT_THAT(writer.Failure(files[i]), IsEmpty());
  }
}

TEST(FileWriter, WritesAllBeforeItsEnd) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("file");
  const std::string text(kMebi, 'x');
  {
    FileWriter writer;
    const auto file = writer.Add(OpenForWriting(path, O_TRUNC), path);
    for (int i = 0; i < 4; ++i) writer.Append(file, text);
  }
  EXPECT_EQ(ReadFile(path, 8 * kMebi).size(), 4 * kMebi);
}

TEST(FileWriter, AFileThatFailsIsNamedAndHoldsUpNoOther) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("file");
  FileWriter writer;
  const auto whole = writer.Add(OpenForWriting(path, O_TRUNC), path);
  const auto device = writer.Add(FileDescriptor(::open("/dev/full", O_WRONLY | O_CLOEXEC)), "full");
  writer.Append(device, "lost");
  writer.Append(whole, "kept");
  writer.Drain();
  EXPECT_EQ(writer.Failure(device), "full: cannot write: No space left on device");
  EXPECT_THAT(writer.Failure(whole), IsEmpty());
  EXPECT_EQ(ReadFile(path, kMebi), "kept");
}

// If it waited, this test would not end: the same thread reads.
TEST(FileWriter, WhoAppendsDoesNotWaitForTheDisk) {
  SlowDisk disk;
  FileWriter writer(4 * kMebi);
  const auto file = writer.Add(disk.TakeEnd(), "disk");
  const std::string text(kMebi, 'x');
  for (int i = 0; i < 4; ++i) writer.Append(file, text);
  EXPECT_THAT(writer.Failure(file), IsEmpty());
  EXPECT_EQ(writer.Waiting(file), 4 * kMebi);
  EXPECT_FALSE(writer.DrainWithin(std::chrono::milliseconds(10)));
  disk.Take(4 * kMebi);
  writer.Drain();
  EXPECT_EQ(writer.Waiting(file), 0U);
  EXPECT_TRUE(writer.DrainWithin({}));
  for (int i = 0; i < 4; ++i) writer.Append(file, text);
  EXPECT_THAT(writer.Failure(file), IsEmpty()) << "what was written waits no more";
  disk.Take(4 * kMebi);
}

TEST(FileWriter, WritesWhatCameBeforeTooMuchHadToWait) {
  SlowDisk disk;
  {
    FileWriter writer(2 * kMebi);
    const auto file = writer.Add(disk.TakeEnd(), "disk");
    writer.Append(file, std::string(kMebi, 'a'));
    writer.Append(file, std::string(kMebi, 'b'));
    writer.Append(file, "c");
    EXPECT_EQ(writer.Failure(file),
              "disk: cannot write: the disk is too slow; 2097152 bytes wait for it");
    disk.Take(kMebi);
    writer.Append(file, "d");
    disk.Take(kMebi);
  }
  EXPECT_THAT(disk.ReadAll(), IsEmpty()) << "no gap";
}

}  // namespace
}  // namespace ringside
