#ifndef RINGSIDE_COMMON_BASE_REGULAR_FILE_H_
#define RINGSIDE_COMMON_BASE_REGULAR_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ringside/common/base/file_descriptor.h"

namespace ringside {

/// A regular file that is open for reading. Another kind of file is refused before anything is read
/// from it: a FIFO would be waited for, and a device may have no end. Every error is a `DataError`
/// that names the file.
class RegularFile {
 public:
  explicit RegularFile(std::string path);

  const std::string& path() const { return path_; }
  int descriptor() const { return fd_.get(); }
  /// In bytes, when it was opened. A file of /proc has 0.
  std::uint64_t size() const { return size_; }
  /// Who may read, write and execute it.
  int permissions() const { return permissions_; }

  /// Fills `out` with what begins at `offset`. Returns how many bytes came: fewer at the end.
  std::size_t ReadAt(std::uint64_t offset, std::span<std::byte> out) const;
  /// The whole content. Throws when it is longer than `max_bytes`; takes no more memory than that.
  std::string ReadAll(std::size_t max_bytes) const;

 private:
  std::string path_;
  FileDescriptor fd_;
  std::uint64_t size_ = 0;
  int permissions_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_REGULAR_FILE_H_
