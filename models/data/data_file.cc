#include "ringside/models/data/data_file.h"

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "ringside/common/core/errors.h"

namespace ringside {
namespace {

// Users often forget to unpack the download, so the message mentions it.
std::string MissingText(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path + ".gz", ignored))
    return "a data file was expected here; only " + path + ".gz is there: unpack it with gunzip";
  return "a data file was expected here, there is none";
}

}  // namespace

DataFile::DataFile(std::string path) : path_(std::move(path)) {
  std::error_code error;
  const auto status = std::filesystem::status(path_, error);
  if (!std::filesystem::exists(status)) Fail(0, MissingText(path_));
  if (!std::filesystem::is_regular_file(status))
    Fail(0, "a regular file was expected, this is something else");
  size_ = std::filesystem::file_size(path_, error);
  if (error) Fail(0, "the size cannot be read: " + error.message());
  stream_.open(path_, std::ios::binary);
  if (!stream_) Fail(0, "a file that can be read was expected: check its permissions");
}

std::uint32_t DataFile::ReadBigEndian32(const std::string& what) {
  const std::vector<std::uint8_t> bytes = ReadBytes(4, what);
  std::uint32_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

std::vector<std::uint8_t> DataFile::ReadBytes(std::uint64_t count, const std::string& what) {
  const std::uint64_t left = size_ - offset_;
  if (count > left) {
    Fail(offset_, what + " (" + std::to_string(count) + " bytes) expected, the file has " +
                      std::to_string(left) + " bytes left");
  }
  std::vector<std::uint8_t> bytes(count);
  if (!stream_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count))) {
    Fail(offset_ + static_cast<std::uint64_t>(stream_.gcount()),
         what + " expected, reading failed: the file changed or its disk is failing");
  }
  offset_ += count;
  return bytes;
}

void DataFile::ExpectLeft(std::uint64_t count, const std::string& what) const {
  const std::uint64_t left = size_ - offset_;
  if (left == count) return;
  // If the file is too short, the error is at its end. If it is too long, the error is at the first
  // extra byte.
  Fail(left < count ? size_ : offset_ + count,
       what + " (" + std::to_string(count) + " bytes from byte " + std::to_string(offset_) +
           ") and then the end of the file expected, there are " + std::to_string(left));
}

void DataFile::Fail(std::uint64_t offset, const std::string& expected) const {
  throw DataError(path_, static_cast<std::int64_t>(offset), expected);
}

}  // namespace ringside
