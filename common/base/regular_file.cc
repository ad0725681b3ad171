#include "ringside/common/base/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

std::string KindOf(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "something else";
}

void RefuseOthers(const std::string& path, mode_t mode) {
  if (!S_ISREG(mode)) throw DataError(path, "is " + KindOf(mode) + ", not a regular file");
}

}  // namespace

RegularFile::RegularFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  // Opening a FIFO would be seen by its writer, and opening a device may change it. If the file
  // cannot be examined, `open` says why.
  if (::stat(path_.c_str(), &status) == 0) RefuseOthers(path_, status.st_mode);
  // Without O_NONBLOCK a FIFO that has come meanwhile would be waited for.
  fd_ = FileDescriptor(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (fd_.get() < 0) throw DataError(path_, std::string("cannot open: ") + std::strerror(errno));
  if (::fstat(fd_.get(), &status) != 0) {
    throw DataError(path_, std::string("cannot be examined: ") + std::strerror(errno));
  }
  RefuseOthers(path_, status.st_mode);
  size_ = static_cast<std::uint64_t>(status.st_size);
  permissions_ = static_cast<int>(status.st_mode & 0777U);
}

std::size_t RegularFile::ReadAt(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t count =
        ::pread(fd_.get(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw DataError(path_, std::string("cannot read: ") + std::strerror(errno));
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::string RegularFile::ReadAll(std::size_t max_bytes) const {
  constexpr std::size_t kPiece = 65'536;
  const auto refuse_more = [&](bool more) {
    if (!more) return;
    throw DataError(
        path_, static_cast<std::int64_t>(max_bytes),
        "expected the end: it may be no longer than " + std::to_string(max_bytes) + " bytes");
  };
  refuse_more(size_ > max_bytes);
  std::string content;
  content.reserve(size_);
  std::array<std::byte, kPiece> piece;
  while (true) {
    const std::size_t count = ReadAt(content.size(), piece);
    refuse_more(count > max_bytes - content.size());
    content.append(reinterpret_cast<const char*>(piece.data()), count);
    if (count < piece.size()) return content;
  }
}

}  // namespace ringside
