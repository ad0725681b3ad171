#ifndef RINGSIDE_MODELS_DATA_DATA_FILE_H_
#define RINGSIDE_MODELS_DATA_DATA_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ringside/common/base/regular_file.h"

namespace ringside {

/// A binary data file, read from front to back. Every error is a `DataError` with the path, the
/// byte offset, what was expected and what was found. The size is known from the start. So a header
/// that promises more than the file has is refused before any memory is allocated. One thread.
class DataFile {
 public:
  /// Throws `DataError` (offset 0) when `path` is not a readable regular file.
  explicit DataFile(const std::string& path);

  const std::string& path() const { return file_.path(); }
  std::uint64_t size() const { return file_.size(); }
  /// The offset of the next byte to read.
  std::uint64_t offset() const { return offset_; }

  /// The next four bytes, most significant first. `what` names the field for the error.
  std::uint32_t ReadBigEndian32(const std::string& what);
  /// The next `count` bytes. Throws before allocating when the file has fewer left.
  std::vector<std::uint8_t> ReadBytes(std::uint64_t count, const std::string& what);
  /// Throws unless exactly `count` bytes are left.
  void ExpectLeft(std::uint64_t count, const std::string& what) const;
  /// Throws a `DataError` about the byte at `offset`.
  [[noreturn]] void Fail(std::uint64_t offset, const std::string& expected) const;

 private:
  RegularFile file_;
  std::uint64_t offset_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_MODELS_DATA_DATA_FILE_H_
