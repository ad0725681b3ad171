#include "ringside/experiments/worker/checkpoint.h"

#include <array>
#include <bit>
#include <cstring>
#include <fstream>

#include "ringside/common/core/errors.h"
#include "ringside/common/core/fnv1a.h"
#include "ringside/experiments/system/files.h"
#include "ringside/experiments/system/sha256.h"

namespace ringside {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

constexpr std::array<char, 8> kMagic{'R', 'S', 'C', 'K', 'P', 'T', '0', '1'};
constexpr std::array<char, 8> kParamsMagic{'R', 'S', 'P', 'A', 'R', 'A', 'M', '1'};
constexpr std::size_t kDigestBytes = 64;

struct Header {
  std::array<char, 8> magic;
  std::int64_t steps_done;
  std::uint64_t tensors;
  std::uint64_t parameters;
  std::uint64_t optimizer_state;
  std::uint64_t buffers;
  std::uint32_t optimizer;
  std::uint32_t reserved;
};
static_assert(sizeof(Header) == 56);

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
  explicit Reader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) throw DataError(path_, "cannot be opened");
    file_.seekg(0, std::ios::end);
    size_ = static_cast<std::uint64_t>(file_.tellg());
    file_.seekg(0);
  }

  void Read(std::span<std::byte> out, const char* what) {
    file_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
    if (!file_) Fail(std::string("expected ") + what + ", but the file ends");
    offset_ += out.size();
  }

  std::vector<float> ReadFloats(std::uint64_t count, const char* what) {
    if (count > (size_ - offset_) / sizeof(float)) {
      Fail(std::string("expected ") + what + ", but the file is too short");
    }
    std::vector<float> floats(count);
    Read(std::as_writable_bytes(std::span(floats)), what);
    return floats;
  }

  void ExpectEnd() {
    if (offset_ != size_) Fail("expected the end of the file");
  }

  [[noreturn]] void Fail(const std::string& expected) const { FailAt(offset_, expected); }
  [[noreturn]] void FailAt(std::uint64_t offset, const std::string& expected) const {
    throw DataError(path_, static_cast<std::int64_t>(offset), expected);
  }
  std::uint64_t offset() const { return offset_; }

 private:
  std::string path_;
  std::ifstream file_;
  std::uint64_t size_ = 0;
  std::uint64_t offset_ = 0;
};

void Refuse(bool wrong, const std::string& path, const std::string& reason) {
  if (wrong) throw ConfigError("cannot resume from " + path + ": " + reason);
}

void CheckIdentity(const std::string& path, const Header& header,
                   const CheckpointIdentity& expected) {
  Refuse(header.parameters != expected.parameters, path,
         "it holds " + std::to_string(header.parameters) + " parameters, the model has " +
             std::to_string(expected.parameters));
  Refuse(header.tensors != expected.tensors, path, "its tensors are not those of the model");
  Refuse(header.buffers != expected.buffers, path, "its buffers are not those of the model");
  Refuse(header.optimizer != static_cast<std::uint32_t>(expected.optimizer) ||
             header.optimizer_state != expected.optimizer_state,
         path, "it was written with another optimizer");
}

}  // namespace

std::uint64_t TensorFingerprint(std::span<const TensorSpec> tensors) {
  std::uint64_t hash = kFnv1aBasis;
  for (const TensorSpec& tensor : tensors) {
    for (const char letter : tensor.name) {
      hash = Fnv1aByte(hash, static_cast<std::uint8_t>(letter));
    }
    hash = Fnv1a(hash, tensor.elements);
  }
  return hash;
}

void WriteCheckpoint(const std::string& path, const CheckpointIdentity& identity,
                     const CheckpointView& checkpoint) {
  const Header header{kMagic,
                      checkpoint.steps_done,
                      identity.tensors,
                      checkpoint.params.size(),
                      checkpoint.optimizer_state.size(),
                      checkpoint.buffers.size(),
                      static_cast<std::uint32_t>(identity.optimizer),
                      0};
  std::vector<std::span<const std::byte>> parts{Bytes(header), std::as_bytes(checkpoint.params),
                                                std::as_bytes(checkpoint.optimizer_state),
                                                std::as_bytes(checkpoint.buffers)};
  std::string digests;
  for (const auto part : parts) digests += Sha256Hex(part);
  parts.push_back(std::as_bytes(std::span(digests)));
  WriteFileAtomically(path, parts);
}

Checkpoint ReadCheckpoint(const std::string& path, const CheckpointIdentity& expected) {
  Reader reader(path);
  Header header{};
  reader.Read(std::as_writable_bytes(std::span(&header, 1)), "a checkpoint's header");
  if (header.magic != kMagic) reader.FailAt(0, "expected the mark of a checkpoint, RSCKPT01");
  CheckIdentity(path, header, expected);

  Checkpoint checkpoint;
  checkpoint.steps_done = header.steps_done;
  checkpoint.params = reader.ReadFloats(header.parameters, "the parameters");
  checkpoint.optimizer_state = reader.ReadFloats(header.optimizer_state, "the optimizer's state");
  checkpoint.buffers = reader.ReadFloats(header.buffers, "the buffers");

  const std::array parts{Bytes(header), std::as_bytes(std::span<const float>(checkpoint.params)),
                         std::as_bytes(std::span<const float>(checkpoint.optimizer_state)),
                         std::as_bytes(std::span<const float>(checkpoint.buffers))};
  std::uint64_t offset = 0;
  for (const auto part : parts) {
    std::string digest(kDigestBytes, '\0');
    reader.Read(std::as_writable_bytes(std::span(digest)), "a checksum");
    if (digest != Sha256Hex(part)) {
      reader.FailAt(offset, "expected " + std::to_string(part.size()) +
                                " bytes from here on that agree with their checksum");
    }
    offset += part.size();
  }
  reader.ExpectEnd();
  Refuse(checkpoint.steps_done < 0, path, "its number of steps is negative");
  return checkpoint;
}

void WriteParams(const std::string& path, std::span<const float> params) {
  ParamsHeader header{kParamsMagic, params.size(), {}};
  const std::string digest = Sha256Hex(std::as_bytes(params));
  std::memcpy(header.digest.data(), digest.data(), kDigestBytes);
  const std::array<std::span<const std::byte>, 2> parts{Bytes(header), std::as_bytes(params)};
  WriteFileAtomically(path, parts);
}

std::vector<float> ReadParams(const std::string& path, std::uint64_t max_parameters) {
  Reader reader(path);
  ParamsHeader header{};
  reader.Read(std::as_writable_bytes(std::span(&header, 1)), "a header of 80 bytes");
  if (header.magic != kParamsMagic) {
    reader.FailAt(0, "expected the mark of a parameter file, RSPARAM1");
  }
  if (header.parameters > max_parameters) {
    reader.FailAt(8, "expected at most " + std::to_string(max_parameters) + " parameters");
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
