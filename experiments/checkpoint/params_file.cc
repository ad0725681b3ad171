#include "ringside/experiments/checkpoint/params_file.h"

#include <array>
#include <bit>
#include <cstring>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/regular_file.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/sha256.h"

namespace ringside {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

constexpr std::array<char, 8> kParamsMagic{'R', 'S', 'P', 'A', 'R', 'A', 'M', '1'};
constexpr std::size_t kDigestBytes = 64;

struct ParamsHeader {
  std::array<char, 8> magic;
  std::uint64_t parameters;
  std::array<char, kDigestBytes> digest;
};
static_assert(sizeof(ParamsHeader) == 80);

template <typename T>
std::span<const std::byte> Bytes(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

/// Reads a file front to back; every failure names the offset.
class Reader {
 public:
  explicit Reader(const std::string& path) : file_(path) {}

  void Read(std::span<std::byte> out, const char* what) {
    if (file_.ReadAt(offset_, out) < out.size()) {
      Fail(std::string("expected ") + what + ", but the file ends");
    }
    offset_ += out.size();
  }

  std::vector<float> ReadFloats(std::uint64_t count, const char* what) {
    if (count > (file_.size() - offset_) / sizeof(float)) {
      Fail(std::string("expected ") + what + ", but the file is too short");
    }
    std::vector<float> floats(count);
    Read(std::as_writable_bytes(std::span(floats)), what);
    return floats;
  }

  void ExpectEnd() {
    if (offset_ != file_.size()) Fail("expected the end of the file");
  }

  [[noreturn]] void Fail(const std::string& expected) const { FailAt(offset_, expected); }
  [[noreturn]] void FailAt(std::uint64_t offset, const std::string& expected) const {
    throw DataError(file_.path(), static_cast<std::int64_t>(offset), expected);
  }
  std::uint64_t offset() const { return offset_; }

 private:
  RegularFile file_;
  std::uint64_t offset_ = 0;
};

}  // namespace

void WriteParams(const std::string& path, std::span<const float> params) {
  ParamsHeader header{kParamsMagic, params.size(), {}};
  const std::string digest = Sha256Hex(std::as_bytes(params));
  std::memcpy(header.digest.data(), digest.data(), kDigestBytes);
  const std::array<std::span<const std::byte>, 2> parts{Bytes(header), std::as_bytes(params)};
  WriteFileAtomically(path, parts);
}

std::vector<float> ReadParams(const std::string& path) {
  Reader reader(path);
  ParamsHeader header{};
  reader.Read(std::as_writable_bytes(std::span(&header, 1)), "a header of 80 bytes");
  if (header.magic != kParamsMagic) {
    reader.FailAt(0, "expected the mark of a parameter file, RSPARAM1");
  }
  std::vector<float> params = reader.ReadFloats(header.parameters, "the parameters");
  reader.ExpectEnd();
  if (Sha256Hex(std::as_bytes(std::span<const float>(params))) !=
      std::string(header.digest.begin(), header.digest.end())) {
    reader.FailAt(sizeof(ParamsHeader), "expected parameters that agree with their checksum");
  }
  return params;
}

}  // namespace ringside
