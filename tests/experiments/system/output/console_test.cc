// Tests of what people see of a run: its console, and the forwarded output of its processes.
#include "ringside/experiments/system/output/console.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <string>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/system/files/file_writer.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/output/log_forwarder.h"
#include "ringside/experiments/system/processes/process.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Process Shell(const std::string& script) { return Process({.argv = {"/bin/sh", "-c", script}}); }

/// A pipe whose ends block, as one between a program and the shell's next program.
class BlockingPipe {
 public:
  BlockingPipe() {
    std::array<int, 2> fds;
    EXPECT_EQ(::pipe2(fds.data(), O_CLOEXEC), 0);
    read_ = FileDescriptor(fds[0]);
    write_ = FileDescriptor(fds[1]);
  }

  int read_end() const { return read_.get(); }
  int write_end() const { return write_.get(); }
  void CloseReadEnd() { read_.Close(); }
  void CloseWriteEnd() { write_.Close(); }
  void Fill() const {
    SetFlags(write_end(), O_NONBLOCK);
    const std::string zeros(1 << 10, '\0');
    while (::write(write_end(), zeros.data(), zeros.size()) > 0) {
    }
    SetFlags(write_end(), 0);
  }
  std::string TakeAll() const {
    SetFlags(read_.get(), O_NONBLOCK);
    std::string all;
    std::array<char, 4096> buffer;
    for (ssize_t count = 1; count > 0;) {
      count = ::read(read_.get(), buffer.data(), buffer.size());
      if (count > 0) all.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  static void SetFlags(int fd, int flags) { EXPECT_EQ(::fcntl(fd, F_SETFL, flags), 0); }

  FileDescriptor read_;
  FileDescriptor write_;
};

TEST(LogForwarder, PrefixesLinesAndKeepsThemWholeInTheFile) {
  const TemporaryDirectory directory;
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  {
    Console console({.show_progress = false, .fd = fds[1]});
    Process process = Shell("printf 'first\\nsec'; printf 'ond\\nlast'");
    FileWriter writer;
    LogForwarder pump(process.output_fd(), "worker 2", directory.path() + "/log", writer, console,
                      true);
    WaitUntil("the end of the output", [&] { return !pump.ForwardAvailable(); });
    pump.Flush();
  }
  ::close(fds[1]);
  EXPECT_EQ(ReadDescriptor(fds[0], 1000, "console"),
            "[worker 2] first\n[worker 2] second\n[worker 2] last\n");
  ::close(fds[0]);
  EXPECT_EQ(ReadFile(directory.path() + "/log", 1000), "first\nsecond\nlast");
}

// `yes` writes faster than anybody reads.
TEST(LogForwarder, ReturnsToAChildThatWritesWithoutEnd) {
  const TemporaryDirectory directory;
  const std::string log = directory.path() + "/log";
  Console console({.show_progress = false});
  Process process = Shell("exec yes");
  pollfd ready{process.output_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&ready, 1, 20'000), 1);
  FileWriter writer;
  LogForwarder pump(process.output_fd(), "worker 2", log, writer, console, false);
  EXPECT_TRUE(pump.ForwardAvailable());
  writer.Drain();
  EXPECT_GT(std::filesystem::file_size(log), 0U);
  EXPECT_LE(std::filesystem::file_size(log), 128U << 10);
}

TEST(LogForwarder, ReturnsFromWhatIsNeverEmpty) {
  const TemporaryDirectory directory;
  const std::string log = directory.path() + "/log";
  Console console({.show_progress = false});
  const FileDescriptor zeros(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  FileWriter writer;
  LogForwarder pump(zeros.get(), "worker 2", log, writer, console, false);
  EXPECT_TRUE(pump.ForwardAvailable());
  writer.Drain();
  EXPECT_GT(std::filesystem::file_size(log), 0U);
  EXPECT_LE(std::filesystem::file_size(log), 128U << 10);
}

TEST(LogForwarder, TakesAllThatAPipeHolds) {
  const TemporaryDirectory directory;
  const std::string log = directory.path() + "/log";
  Console console({.show_progress = false});
  BlockingPipe pipe;
  // As where a page has 64 KiB.
  if (::fcntl(pipe.write_end(), F_SETPIPE_SZ, 1 << 20) < 0) GTEST_SKIP() << "no pipe of 1 MiB";
  pipe.Fill();
  pipe.CloseWriteEnd();
  FileWriter writer;
  LogForwarder pump(pipe.read_end(), "worker 2", log, writer, console, false);
  EXPECT_FALSE(pump.ForwardAvailable());
  writer.Drain();
  EXPECT_EQ(std::filesystem::file_size(log), 1U << 20);
}

TEST(LogForwarder, EndsAFileThatIsTooLong) {
  const TemporaryDirectory directory;
  const std::string log = directory.path() + "/log";
  const BlockingPipe shown;
  Console console({.show_progress = false, .fd = shown.write_end()});
  Process process = Shell("echo 0123456789abc; echo more");
  FileWriter writer;
  LogForwarder pump(process.output_fd(), "", log, writer, console, true, 10);
  WaitUntil("the end of the output", [&] { return !pump.ForwardAvailable(); });
  writer.Drain();
  EXPECT_EQ(ReadFile(log, 1000),
            "0123456789\n... the rest was cut off: a log file takes no more\n");
  EXPECT_EQ(shown.TakeAll(), "0123456789abc\nmore\n");
  EXPECT_EQ(pump.last_line(), "more");
}

/// A log on a disk that does not answer. A pipe that nobody reads stands for the disk.
class StuckLogTest : public ::testing::Test {
 protected:
  StuckLogTest() {
    disk_.Fill();
    writer_.Append(writer_.Add(FileDescriptor(::dup(disk_.write_end())), "disk"), "blocked");
  }
  ~StuckLogTest() override { disk_.TakeAll(); }

  const TemporaryDirectory directory_;
  const std::string log_ = directory_.path() + "/log";
  Console console_{{.show_progress = false}};
  BlockingPipe disk_;
  FileWriter writer_;
};

TEST_F(StuckLogTest, IsWaitedForOnlyByWhoAsks) {
  Process process = Shell("echo a line");
  LogForwarder pump(process.output_fd(), "", log_, writer_, console_, false);
  WaitUntil("the end of the output", [&] { return !pump.ForwardAvailable(); });
  EXPECT_EQ(std::filesystem::file_size(log_), 0U);
  EXPECT_EQ(pump.last_line(), "a line");
  disk_.TakeAll();
  pump.Drain();
  EXPECT_EQ(ReadFile(log_, 1000), "a line\n");
}

// Nothing is lost: the child waits for the disk.
TEST_F(StuckLogTest, LeavesTheOutputInThePipe) {
  const FileDescriptor zeros(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  LogForwarder pump(zeros.get(), "worker 2", log_, writer_, console_, false);
  for (int i = 0; i < 1000 && pump.wants_input(); ++i) EXPECT_TRUE(pump.ForwardAvailable());
  EXPECT_FALSE(pump.wants_input());
  EXPECT_TRUE(pump.ForwardAvailable());
  disk_.TakeAll();
  pump.Drain();
  const auto forwarded = std::filesystem::file_size(log_);
  EXPECT_GE(forwarded, std::size_t{1} << 20);
  EXPECT_LT(forwarded, std::size_t{2} << 20);
  EXPECT_TRUE(pump.wants_input());
}

// The first write is short, the second one fails.
TEST(LogForwarder, SaysOnceThatALogIsLost) {
  const TemporaryDirectory directory;
  const std::string log = directory.path() + "/log";
  const BlockingPipe shown;
  Console console({.show_progress = false, .fd = shown.write_end()});
  Process process = Shell("echo 0123456789; echo more");
  FileWriter writer;
  LogForwarder pump(process.output_fd(), "", log, writer, console, false);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{5, before.rlim_max};
  auto* const handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  WaitUntil("the end of the output", [&] { return !pump.ForwardAvailable(); });
  writer.Drain();
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(ReadFile(log, 1000), "01234");
  EXPECT_FALSE(pump.ForwardAvailable());
  EXPECT_FALSE(pump.ForwardAvailable());
  EXPECT_EQ(shown.TakeAll(),
            "warning: " + log + ": cannot write: File too large; the rest of this log is lost\n");
}

TEST(Console, RewritesTheProgressLineInPlace) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  {
    Console console({.show_progress = true, .in_place = true, .fd = fds[1]});
    console.Progress("step 1/9");
    console.Print("a log line");
  }
  ::close(fds[1]);
  EXPECT_EQ(ReadDescriptor(fds[0], 1000, "console"),
            "\r\033[Kstep 1/9\r\033[Ka log line\nstep 1/9\n");
  ::close(fds[0]);
}

TEST(Console, KeepsABlockAboveTheProgressLine) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  {
    Console console({.show_progress = true, .in_place = true, .fd = fds[1]});
    console.SetBlock({"one", std::string(200, 'x')});
    console.Print("a log line");
    console.Progress("step 1/9");
    console.EndProgress();
    console.SetBlock({"two"});
  }
  ::close(fds[1]);
  // A pipe has no size: 80 columns.
  const std::string block = "one\n" + std::string(79, 'x') + "\n";
  const std::string back = "\r\033[2A\033[J";
  EXPECT_EQ(ReadDescriptor(fds[0], 2000, "console"),
            "\r\033[J" + block + back + "a log line\n" + block + "\r\033[Kstep 1/9" + back + block +
                back + "two\n" + "\r\033[1A\033[J" + "two\n");
  ::close(fds[0]);
}

TEST(Console, ShowsNoBlockWhereNothingCanBeRewritten) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  {
    Console console({.show_progress = true, .in_place = false, .fd = fds[1]});
    console.SetBlock({"one"});
    console.Print("a log line");
  }
  ::close(fds[1]);
  EXPECT_EQ(ReadDescriptor(fds[0], 1000, "console"), "a log line\n");
  ::close(fds[0]);
}

TEST(Console, DropsWhatNobodyReads) {
  const BlockingPipe shown;
  Console console({.show_progress = true, .in_place = false, .fd = shown.write_end()});
  shown.Fill();
  for (int i = 0; i < 1000; ++i) console.Print("unread");
  console.Progress("step 1/9");
  EXPECT_THAT(shown.TakeAll(), Not(HasSubstr("unread")));
  console.Print("read");
  EXPECT_EQ(shown.TakeAll(), "\n... nobody read this output; a part is left out\nread\n");
}

// As in `ringside train ... 2>&1 | head -n 5`. SIGPIPE would end this process.
TEST(Console, BearsThatItsReaderGoes) {
  BlockingPipe shown;
  Console console({.show_progress = true, .in_place = false, .fd = shown.write_end()});
  auto* const handler = ::signal(SIGPIPE, SIG_DFL);
  console.Print("read");
  shown.CloseReadEnd();
  for (int i = 0; i < 3; ++i) console.Print("unread");
  console.Progress("step 1/9");
  EXPECT_FALSE(WriteWithin(shown.write_end(), "unread", std::chrono::milliseconds(100)));
  ::signal(SIGPIPE, handler);
}

TEST(Console, ALongTextDoesNotWaitForRoom) {
  const BlockingPipe shown;
  Console console({.show_progress = false, .fd = shown.write_end()});
  console.Print(std::string(1 << 20, 'x'));
  EXPECT_GT(shown.TakeAll().size(), 4096U);
}

// As behind a connection by ssh that hangs. The terminal is the shell's as well.
TEST(Console, ATerminalThatNobodyReadsStaysAsItIs) {
  const FileDescriptor master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (master.get() < 0 || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0) {
    GTEST_SKIP() << "this machine gives no terminal";
  }
  const FileDescriptor terminal(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_GE(terminal.get(), 0);
  {
    Console console({.show_progress = true, .in_place = true, .fd = terminal.get()});
    for (int i = 0; i < 1000; ++i) console.Print(std::string(1 << 10, 'x'));
  }
  EXPECT_EQ(::fcntl(terminal.get(), F_GETFL) & O_NONBLOCK, 0);
}

}  // namespace
}  // namespace ringside
