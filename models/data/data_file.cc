#include "ringside/models/data/data_file.h"

#include <filesystem>
#include <span>
#include <system_error>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

// Users often forget to unpack the download, so the message mentions it.
std::string MissingText(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path + ".gz", ignored))
    return "a data file was expected here; only " + path + ".gz is there: unpack it with gunzip";
  return "a data file was expected here, there is none";
}

RegularFile Open(const std::string& path) {
  std::error_code ignored;  // opening says more
  if (!std::filesystem::exists(path, ignored)) throw DataError(path, 0, MissingText(path));
  return RegularFile(path);
}

}  // namespace

DataFile::DataFile(const std::string& path) : file_(Open(path)) {}

std::uint32_t DataFile::ReadBigEndian32(const std::string& what) {
  const std::vector<std::uint8_t> bytes = ReadBytes(4, what);
  std::uint32_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

std::vector<std::uint8_t> DataFile::ReadBytes(std::uint64_t count, const std::string& what) {
  const std::uint64_t left = size() - offset_;
  if (count > left) {
    Fail(offset_, what + " (" + std::to_string(count) + " bytes) expected, the file has " +
                      std::to_string(left) + " bytes left");
  }
  std::vector<std::uint8_t> bytes(count);
  const std::size_t got = file_.ReadAt(offset_, std::as_writable_bytes(std::span(bytes)));
  if (got < count) Fail(offset_ + got, what + " expected, but the file was cut meanwhile");
  offset_ += count;
  return bytes;
}

void DataFile::ExpectLeft(std::uint64_t count, const std::string& what) const {
  const std::uint64_t left = size() - offset_;
  if (left == count) return;
  // If the file is too short, the error is at its end. If it is too long, the error is at the first
  // extra byte.
  Fail(left < count ? size() : offset_ + count,
       what + " (" + std::to_string(count) + " bytes from byte " + std::to_string(offset_) +
           ") and then the end of the file expected, there are " + std::to_string(left));
}

void DataFile::Fail(std::uint64_t offset, const std::string& expected) const {
  throw DataError(path(), static_cast<std::int64_t>(offset), expected);
}

}  // namespace ringside
