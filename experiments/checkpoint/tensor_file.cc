#include "ringside/experiments/checkpoint/tensor_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/sha256.h"
#include "ringside/experiments/text/json_depth.h"

namespace ringside {
namespace {

using Json = nlohmann::ordered_json;  // the order of the tensors is the order of their values

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

constexpr const char* kMetadata = "__metadata__";
constexpr const char* kHeaderDigest = "header_sha256";
constexpr std::string_view kSectionDigest = "sha256/";
constexpr std::size_t kDigits = 2 * kSha256Bytes;
constexpr std::size_t kAlignment = 8;

std::array<std::byte, 8> LengthBytes(std::uint64_t length) {
  return std::bit_cast<std::array<std::byte, 8>>(length);
}

/// Where the digits of the header's own digest begin; none unless they are there exactly once.
std::optional<std::size_t> FindHeaderDigest(std::string_view header) {
  const std::string mark = fmt::format("\"{}\":\"", kHeaderDigest);
  const std::size_t at = header.find(mark);
  if (at == std::string_view::npos || header.find(mark, at + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t begin = at + mark.size();
  if (header.size() < begin + kDigits) return std::nullopt;
  return begin;
}

/// `header` has zeros where its own digest goes.
std::string DigestOfHeader(std::string_view header) {
  const auto length = LengthBytes(header.size());
  std::string text(reinterpret_cast<const char*>(length.data()), length.size());
  text += header;
  return Sha256Hex(std::as_bytes(std::span(text)));
}

/// The number of values; none when it is not a shape or no memory could hold it.
std::optional<std::uint64_t> ValuesOf(std::span<const std::int64_t> shape) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() / sizeof(float);
  std::uint64_t values = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size > 0 && values > kMost / static_cast<std::uint64_t>(size)) return std::nullopt;
    values *= static_cast<std::uint64_t>(size);
  }
  return values;
}

std::string HeaderOf(const TensorFileMetadata& metadata, std::span<const TensorSection> sections) {
  TensorFileMetadata texts = metadata;
  texts[kHeaderDigest] = std::string(kDigits, '0');
  for (const TensorSection& section : sections) {
    if (section.tensors.empty()) continue;
    texts[std::string(kSectionDigest) + section.name] = Sha256Hex(std::as_bytes(section.values));
  }
  Json header;
  header[kMetadata] = texts;
  std::uint64_t begin = 0;
  for (const TensorSection& section : sections) {
    std::uint64_t values = 0;
    for (const NamedShape& tensor : section.tensors) {
      const std::uint64_t count = ValuesOf(tensor.shape).value_or(0);
      const std::uint64_t end = begin + count * sizeof(float);
      header[section.name + "/" + tensor.name] = {
          {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
      values += count;
      begin = end;
    }
    if (values != section.values.size()) {
      throw InternalError(fmt::format("section '{}' has {} values, its tensors {}", section.name,
                                      section.values.size(), values));
    }
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

}  // namespace

std::string WriteTensorFile(const std::string& path, const TensorFileMetadata& metadata,
                            std::span<const TensorSection> sections) {
  std::string header = HeaderOf(metadata, sections);
  if (header.size() > kMaxTensorFileHeader) {
    throw ConfigError(fmt::format("{}: a header of {} bytes is longer than the {} that may be",
                                  path, header.size(), kMaxTensorFileHeader));
  }
  const std::string digest = DigestOfHeader(header);
  const std::optional<std::size_t> at = FindHeaderDigest(header);
  if (!at) throw InternalError("a tensor file's header has no place for its digest");
  header.replace(*at, kDigits, digest);

  const auto length = LengthBytes(header.size());
  std::vector<std::span<const std::byte>> parts{std::span<const std::byte>(length),
                                                std::as_bytes(std::span(header))};
  for (const TensorSection& section : sections) {
    if (!section.tensors.empty()) parts.push_back(std::as_bytes(section.values));
  }
  WriteFileAtomically(path, parts);
  return digest;
}

TensorFileReader::TensorFileReader(const std::string& path) : file_(path) {
  const std::string header = ReadHeader(file_.size());
  CheckDigest(header);
  Parse(header, file_.size());
}

std::string TensorFileReader::ReadHeader(std::uint64_t size) {
  std::array<std::byte, 8> length{};
  if (size < length.size()) Fail(0, "the length of a header, but the file ends");
  ReadAt(0, length, "the length of the header");
  const auto bytes = std::bit_cast<std::uint64_t>(length);
  if (bytes > kMaxTensorFileHeader || bytes > size - length.size() || bytes % kAlignment != 0) {
    Fail(0, fmt::format("the length of a header: a multiple of {}, at most {} bytes and no more "
                        "than the file has",
                        kAlignment, kMaxTensorFileHeader));
  }
  data_begin_ = length.size() + bytes;
  std::string header(bytes, '\0');
  ReadAt(length.size(), std::as_writable_bytes(std::span(header)), "the header");
  return header;
}

void TensorFileReader::CheckDigest(const std::string& header) {
  const std::optional<std::size_t> at = FindHeaderDigest(header);
  if (!at) Fail(8, fmt::format("a header with its checksum, \"{}\"", kHeaderDigest));
  digest_ = header.substr(*at, kDigits);
  std::string blank = header;
  blank.replace(*at, kDigits, std::string(kDigits, '0'));
  if (DigestOfHeader(blank) != digest_) Fail(0, "a header that agrees with its checksum");
}

void TensorFileReader::Parse(const std::string& header, std::uint64_t size) {
  const auto refuse_unless = [&](bool right, const std::string& expected) {
    if (!right) Fail(8, expected);
  };
  refuse_unless(!IsTooDeepJson(header), "a header of fewer objects and lists within each other");
  const Json json = Json::parse(header, nullptr, /*allow_exceptions=*/false);
  refuse_unless(json.is_object() && json.contains(kMetadata), "a JSON header with __metadata__");
  for (const auto& [key, value] : json[kMetadata].items()) {
    refuse_unless(value.is_string(), "texts in __metadata__");
    metadata_[key] = value.get<std::string>();
  }
  metadata_.erase(kHeaderDigest);

  std::uint64_t next = data_begin_;
  for (const auto& [name, tensor] : json.items()) {
    if (name == kMetadata) continue;
    const std::size_t slash = name.find('/');
    refuse_unless(slash != std::string::npos, fmt::format("a section in the name '{}'", name));
    refuse_unless(tensor.is_object() && tensor.value("dtype", Json()) == "F32" &&
                      tensor.contains("shape") && tensor["shape"].is_array(),
                  fmt::format("an F32 tensor with a shape under '{}'", name));
    std::vector<std::int64_t> shape;
    for (const Json& length : tensor["shape"]) {
      refuse_unless(length.is_number_integer(),
                    fmt::format("whole numbers as shape of '{}'", name));
      shape.push_back(length.get<std::int64_t>());
    }
    const std::optional<std::uint64_t> values = ValuesOf(shape);
    if (!values || *values > (size - next) / sizeof(float)) {
      Fail(8, fmt::format("a shape of '{}' for which the file is long enough", name));
    }
    const std::uint64_t end = next + *values * sizeof(float);
    const Json offsets{next - data_begin_, end - data_begin_};
    refuse_unless(tensor.value("data_offsets", Json()) == offsets,
                  fmt::format("'{}' at the bytes {}", name, offsets.dump()));
    const std::string section = name.substr(0, slash);
    if (sections_.empty() || sections_.back().name != section) {
      refuse_unless(Find(section) == nullptr,
                    fmt::format("the tensors of '{}' one after the other", section));
      const auto digest = metadata_.find(std::string(kSectionDigest) + section);
      refuse_unless(digest != metadata_.end(), fmt::format("a checksum of '{}'", section));
      sections_.push_back(
          {.name = section, .tensors = {}, .offset = next, .sha256 = digest->second});
      metadata_.erase(digest);
    }
    sections_.back().tensors.push_back({name.substr(slash + 1), std::move(shape)});
    sections_.back().values += *values;
    next = end;
  }
  if (next != size) Fail(next, "the end of the file");
}

const TensorFileReader::Section* TensorFileReader::Find(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &Section::name);
  return found == sections_.end() ? nullptr : &*found;
}

std::vector<float> TensorFileReader::Read(const Section& section) const {
  std::vector<float> values(section.values);
  ReadAt(section.offset, std::as_writable_bytes(std::span(values)),
         fmt::format("section '{}'", section.name));
  if (Sha256Hex(std::as_bytes(std::span<const float>(values))) != section.sha256) {
    Fail(section.offset, fmt::format("{} bytes of section '{}' that agree with their checksum",
                                     section.values * sizeof(float), section.name));
  }
  return values;
}

void TensorFileReader::ReadAt(std::uint64_t offset, std::span<std::byte> out,
                              const std::string& what) const {
  const std::size_t count = file_.ReadAt(offset, out);
  if (count < out.size()) Fail(offset + count, what + ", but the file ends");
}

void TensorFileReader::Fail(std::uint64_t offset, const std::string& expected) const {
  throw DataError(file_.path(), static_cast<std::int64_t>(offset), "expected " + expected);
}

}  // namespace ringside
