#include "ringside/experiments/system/processes/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <thread>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/processes/signal_watch.h"
#include "tests/common/control_group.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

Process Shell(const std::string& script, const std::string& secret = "") {
  return Process({.argv = {"/bin/sh", "-c", script}, .secret_input = secret});
}

/// All output until the group has closed it.
std::string ReadAll(const Process& process) {
  std::string text;
  char buffer[4096];
  while (true) {
    pollfd fd{process.output_fd(), POLLIN, 0};
    ::poll(&fd, 1, 20'000);
    const ssize_t count = ::read(process.output_fd(), buffer, sizeof(buffer));
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

ProcessEnd WaitForEnd(Process& process) {
  WaitUntil("the end of the process", [&] { return process.Poll().has_value(); });
  return *process.Poll();
}

TEST(Process, SaysHowItEnded) {
  Process exits = Shell("exit 3");
  EXPECT_EQ(WaitForEnd(exits).Text(), "exited with code 3");
  Process dies = Shell("kill -9 $$");
  EXPECT_EQ(WaitForEnd(dies).Text(), "was killed by signal 9");
}

// The kernel does where SIGCHLD is ignored.
TEST(Process, OneThatSomebodyElseReapsHasEnded) {
  ASSERT_NE(::signal(SIGCHLD, SIG_IGN), SIG_ERR);
  Process process = Shell("exit 3");
  EXPECT_EQ(WaitForEnd(process).Text(), "ended, and its exit code is lost");
  ::signal(SIGCHLD, SIG_DFL);
}

TEST(Process, AVariableReplacesOurs) {
  const ScopedVariable ours("RINGSIDE_TEST_WORD", "ours");
  Process tells({.argv = {"/bin/sh", "-c", "env | grep RINGSIDE_TEST_WORD"},
                 .environment = {"RINGSIDE_TEST_WORD=theirs"}});
  EXPECT_EQ(ReadAll(tells), "RINGSIDE_TEST_WORD=theirs\n");
}

TEST(Process, ReadsItsStandardInput) {
  Process copies({.argv = {"/bin/cat"}, .standard_input = "one\ntwo\n"});
  EXPECT_EQ(ReadAll(copies), "one\ntwo\n");
  Process has_none({.argv = {"/bin/cat"}});
  EXPECT_EQ(ReadAll(has_none), "");
  EXPECT_THROW(Process({.argv = {"/bin/cat"}, .standard_input = std::string(65 << 10, 'x')}),
               ConfigError);
}

/// A control group whose processes may use 64 MiB. Its path is empty if this machine does not let
/// us make one.
class SmallMemory {
 public:
  SmallMemory() {
    const std::string limit = std::to_string(64 << 20);
    const std::string name = "/ringside-test-" + std::to_string(::getpid());
    // Of version 1 "4:memory:/path", of version 2 "0::/path".
    if (Make("/sys/fs/cgroup/memory" + OwnGroup(":memory:") + name)) {
      Write("memory.limit_in_bytes", limit);
    } else if (Make("/sys/fs/cgroup" + OwnGroup("0::") + name)) {
      // Where the group above keeps memory to itself, there is no such file.
      if (!std::filesystem::exists(path_ + "/memory.max")) {
        Remove();
        return;
      }
      Write("memory.max", limit);
      Write("memory.swap.max", "0");
    }
  }
  ~SmallMemory() { Remove(); }

  const std::string& path() const { return path_; }

 private:
  bool Make(const std::string& path) {
    std::error_code error;
    if (std::filesystem::create_directory(path, error)) path_ = path;
    return !path_.empty();
  }
  void Remove() {
    std::error_code ignored;  // An empty path is no directory.
    std::filesystem::remove(path_, ignored);
    path_.clear();
  }
  void Write(const std::string& file, const std::string& text) const {
    if (!std::filesystem::exists(path_ + "/" + file)) return;
    std::ofstream out(path_ + "/" + file);
    out << text;
    out.close();
    if (out.fail()) throw std::runtime_error(path_ + ": " + file + " cannot be set");
  }
  /// The path of this process's group: what follows `mark` in its line.
  static std::string OwnGroup(const std::string& mark) {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
      const std::size_t at = line.find(mark);
      if (at != std::string::npos) return line.substr(at + mark.size());
    }
    return "";
  }

  std::string path_;
};

// Another one that lives on has not run out of memory when somebody kills it later.
TEST(Process, SaysThatMemoryRanOut) {
  const SmallMemory memory;
  if (memory.path().empty()) GTEST_SKIP() << "no control group with a limit of memory can be made";
  Process other = Shell("exec sleep 60");
  Process process = Shell("echo $$ > " + memory.path() + "/cgroup.procs && exec tail /dev/zero");
  const ProcessEnd end = WaitForEnd(process);
  EXPECT_TRUE(end.out_of_memory);
  EXPECT_EQ(end.Text(), "was killed by signal 9, perhaps because memory ran out");
  const Deadline later = Deadline::After(2 * RecentOomKills::kRecent + std::chrono::seconds(1));
  while (!other.Poll() && !later.expired()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  other.Signal(SIGKILL);
  EXPECT_EQ(WaitForEnd(other).Text(), "was killed by signal 9");
}

/// While it exists, the process stays after SIGKILL, as one does whose disk does not answer.
class Tracer {
 public:
  explicit Tracer(pid_t traced) {
    int ready[2];
    if (::pipe(ready) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      const char answer = ::ptrace(PTRACE_SEIZE, traced, nullptr, nullptr) == 0 ? 'y' : 'n';
      static_cast<void>(::write(ready[1], &answer, 1));  // without an answer the test fails
      while (true) ::pause();
    }
    ::close(ready[1]);
    char answer = 'n';
    holds_ = ::read(ready[0], &answer, 1) == 1 && answer == 'y';
    ::close(ready[0]);
  }
  ~Tracer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  bool holds() const { return holds_; }

 private:
  pid_t pid_ = -1;
  bool holds_ = false;
};

TEST(Process, OneThatTheKernelDoesNotEndIsNotWaitedFor) {
  std::optional<Process> process(Shell("exec sleep 60"));
  const pid_t pid = process->pid();
  {
    const Tracer tracer(pid);
    if (!tracer.holds()) GTEST_SKIP() << "no process may trace another one here";
    process.reset();
    EXPECT_EQ(::kill(pid, 0), 0) << "it has ended";
  }
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
}

TEST(Process, OutputAndErrorComeBackInOrder) {
  const Process process = Shell("echo one; echo two >&2; echo three");
  EXPECT_EQ(ReadAll(process), "one\ntwo\nthree\n");
}

TEST(Process, TheSecretComesThroughAPipeAlone) {
  const Process process = Shell(
      "cat <&3; tr '\\0' ' ' < /proc/$$/cmdline; tr '\\0' ' ' < /proc/$$/environ", "hush-hush");
  const std::string output = ReadAll(process);
  EXPECT_TRUE(output.starts_with("hush-hush"));
  EXPECT_EQ(output.find("hush-hush", 1), std::string::npos);
}

TEST(Process, InheritsNoOtherDescriptor) {
  const FileDescriptor leak(::dup(STDERR_FILENO));
  const Process process = Shell("ls /proc/$$/fd");
  EXPECT_EQ(ReadAll(process), "0\n1\n2\n3\n");
}

TEST(Process, TooLongASecretIsRefused) {
  EXPECT_THROW(Shell("true", std::string(100'000, 's')), ConfigError);
}

TEST(Process, AMissingExecutableIsNamed) {
  try {
    const Process process({.argv = {"/no/such/executable"}});
    FAIL() << "expected a MissingBackendError";
  } catch (const MissingBackendError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("/no/such/executable"));
  }
}

TEST(Process, AFileThatIsNoProgramIsMissing) {
  EXPECT_THROW(Process({.argv = {"/proc/self/status"}}), MissingBackendError);
  EXPECT_THROW(Process({.argv = {"/proc/self/status/program"}}), MissingBackendError);
}

/// The soft limit of this process.
class ScopedLimit {
 public:
  ScopedLimit(__rlimit_resource resource, rlim_t value) : resource_(resource) {
    EXPECT_EQ(::getrlimit(resource_, &before_), 0);
    const rlimit limit{value, before_.rlim_max};
    EXPECT_EQ(::setrlimit(resource_, &limit), 0);
  }
  ~ScopedLimit() { EXPECT_EQ(::setrlimit(resource_, &before_), 0); }
  ScopedLimit(const ScopedLimit&) = delete;
  ScopedLimit& operator=(const ScopedLimit&) = delete;

 private:
  const __rlimit_resource resource_;
  rlimit before_{};
};

/// What starting a child throws.
template <typename Expected>
std::string Refusal() {
  try {
    Shell("true");
    return "started";
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("something else: ") + error.what();
  }
}

TEST(Process, ALackOfDescriptorsIsNoMissingProgram) {
  std::string refusal;
  {
    const ScopedLimit limit(RLIMIT_NOFILE, 10);
    refusal = Refusal<ResourceError>();
  }
  EXPECT_THAT(refusal, ::testing::HasSubstr("Too many open files (the limit of descriptors"));
}

TEST(Process, ALackOfProcessesIsNoMissingProgram) {
  const auto group = ControlGroup::OfProcesses(1);
  if (!group) GTEST_SKIP() << "needs root and control groups for processes";
  group->Take(::getpid());
  const std::string refusal = Refusal<ResourceError>();
  group->LetGo(::getpid());
  EXPECT_THAT(refusal, ::testing::HasSubstr("the process /bin/sh: Resource temporarily unavailable "
                                            "(a limit of processes, ulimit -u or "));
}

// A child that ignores SIGTERM and has a child of its own.
TEST(Process, DestructionKillsTheWholeGroup) {
  pid_t group = -1;
  {
    const Process process = Shell("trap '' TERM; sleep 1000 & echo ready; wait; wait");
    group = process.pid();
    pollfd fd{process.output_fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&fd, 1, 20'000), 1);
    EXPECT_EQ(ProcessesOfGroup(group).size(), 2);
    process.Signal(SIGTERM);
  }
  WaitUntil("the end of the group", [group] { return ProcessesOfGroup(group).empty(); });
}

TEST(Process, WhatTheLeaderLeavesBehindIsKilled) {
  Process process = Shell("sleep 1000 >/dev/null 2>&1 & exit 0");
  const pid_t group = process.pid();
  EXPECT_EQ(WaitForEnd(process).code, 0);
  WaitUntil("the end of the group", [group] { return ProcessesOfGroup(group).empty(); });
}

TEST(SignalWatch, TakesSignalsAndGivesThemBack) {
  struct sigaction before {};
  ::sigaction(SIGINT, nullptr, &before);
  {
    SignalWatch watch;
    EXPECT_EQ(watch.Take(), 0);
    ::kill(::getpid(), SIGINT);
    ::kill(::getpid(), SIGTERM);
    int count = 0;
    WaitUntil("two signals", [&] { return (count += watch.Take()) == 2; });
  }
  struct sigaction after {};
  ::sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(SignalWatch, NestedOnesShareWhatNobodyHasTaken) {
  SignalWatch outer;
  int count = 0;
  ::kill(::getpid(), SIGINT);
  const auto readable = [&] {
    pollfd ready{outer.fd(), POLLIN, 0};
    return ::poll(&ready, 1, 0) == 1;
  };
  WaitUntil("a signal before the inner one", readable);
  EXPECT_EQ(SignalWatch().Take(), 1);
  {
    SignalWatch inner;
    ::kill(::getpid(), SIGINT);
    WaitUntil("the first signal", [&] { return inner.Take() == 1; });
    EXPECT_EQ(outer.Take(), 0);
    ::kill(::getpid(), SIGTERM);
    WaitUntil("the second signal", readable);
  }
  EXPECT_EQ(outer.Take(), 1);
  ::kill(::getpid(), SIGINT);
  WaitUntil("the third signal", [&] { return (count += outer.Take()) == 1; });
}

TEST(Files, AFailedWriteLeavesTheOldFile) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  WriteFileAtomically(path, "old");
  EXPECT_THROW(WriteFileAtomically(directory.path() + "/missing/file", "new"), DataError);
  WriteFileAtomically(path, "new", 0600);
  EXPECT_EQ(ReadFile(path, 10), "new");
  EXPECT_THROW(ReadFile(path, 2), DataError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(Files, AFifoThatTheUserNamesIsReadUpToTheLimit) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto write = [&] { std::ofstream(path) << "0123456789"; };
  {
    const std::jthread writer(write);
    EXPECT_EQ(ReadNamedFile(path, 10), "0123456789");
  }
  {
    const std::jthread writer(write);
    EXPECT_THROW(ReadNamedFile(path, 9), DataError);
  }
  EXPECT_EQ(ReadNamedFile("/dev/null", 0), "");
  EXPECT_THROW(ReadNamedFile(directory.Path("absent"), 10), DataError);
  EXPECT_THROW(ReadNamedFile(directory.path(), 10), DataError);
}

}  // namespace
}  // namespace ringside
