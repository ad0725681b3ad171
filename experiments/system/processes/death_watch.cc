#include "ringside/experiments/system/processes/death_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

/// $1: the mark. $2: the directory, or nothing. Its input ends when the process has died. Lines
/// may come before: of a process whose standard output was closed, the pipe is that output. What is
/// killed may start others meanwhile, so it looks again until it finds nothing. The exit code of
/// grep says nothing, because a process may end while its file is read.
constexpr const char* kScript = R"(
trap '' HUP INT QUIT TERM
cd /
while read -r _; do :; done
rounds=0
while [ $rounds -lt 100 ]; do
  rounds=$((rounds + 1))
  found=$(grep -lzxF -e "$1" /proc/[0-9]*/environ 2>/dev/null)
  [ -n "$found" ] || break
  for environ in $found; do
    process=${environ#/proc/}
    kill -KILL "${process%/environ}" 2>/dev/null
  done
done
[ -z "$2" ] || rm -rf -- "$2"
)";

}  // namespace

struct DeathWatch::Start {
  Start(const std::string& mark, const std::string& directory) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw ResourceError("a pipe to a shell", errno);
    read = FileDescriptor(ends[0]);
    write = FileDescriptor(ends[1]);
    options = {.argv = {"/bin/sh", "-c", kScript, "ringside-death-watch", mark, directory},
               .input_fd = read.get()};
  }

  FileDescriptor read;
  FileDescriptor write;
  Process::Options options;
};

DeathWatch::DeathWatch(const std::string& mark, const std::string& directory)
    : DeathWatch(Start(mark, directory)) {}

DeathWatch::DeathWatch(Start start) : alive_(std::move(start.write)), shell_(start.options) {}

}  // namespace ringside
