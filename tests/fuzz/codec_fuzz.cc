// Encodings of gradients and parts of them, as servers and workers receive them. What is taken as
// valid must be safe to decode and to cut, and must give the same floats wherever reading begins.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/codec/codec.h"
#include "ringside/common/codec/codec_table.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"

namespace ringside {
namespace {

constexpr std::array<std::string_view, 6> kCodecs{"fp16",      "bf16",     "int8",
                                                  "topk:0.01", "topk:0.5", "sign"};

// Flags of an input.
constexpr std::uint8_t kMany = 0xfd;      // all of it: several blocks, which are slow
constexpr std::uint8_t kRightLength = 2;  // zeros are added, or bytes cut off

// In the choice of a codec: what follows is a part of an encoding, with padding.
constexpr std::uint8_t kPart = 0x80;

constexpr std::size_t kFew = 1024;  // elements; an input without `kMany` has fewer

std::string NameOf(std::size_t choice) { return std::string(kCodecs[choice % kCodecs.size()]); }

/// Whether a codec divides its elements into blocks, which are not smaller than `kFew`.
bool HasBlocks(std::size_t choice) {
  return NameOf(choice).starts_with("topk") || NameOf(choice) == "int8";
}

std::unique_ptr<Codec> CodecOf(std::size_t choice) {
  CodecOptions options;
  ParseCodec(NameOf(choice), BuiltinCodecs(), options);
  return MakeBareCodec(options, 0);
}

bool Equal(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool SameBytes(std::span<const float> a, std::span<const float> b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

void CheckDecoding(const Codec& codec, const Encoding& encoding, std::size_t begin) {
  std::vector<float> whole(encoding.elements);
  codec.Decode(encoding, 0, whole);
  std::vector<float> rest(encoding.elements - begin, 0.0F);
  codec.Add(encoding, begin, 1, rest);
  if (SameBytes(std::span(whole).subspan(begin), rest)) return;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (Equal(whole[begin + i], rest[i])) continue;
    throw InternalError("where reading begins changes element " + std::to_string(begin + i));
  }
}

/// As a server reads what a worker has pushed. `bytes` may be the longer by padding.
void CheckPart(const Codec& codec, std::vector<std::byte>& bytes, std::size_t elements,
               std::size_t begin) {
  const std::size_t unpadded = codec.parts()->UnpaddedBytes({bytes, elements});
  if (unpadded > bytes.size()) return;
  bytes.resize(unpadded);
  bytes.shrink_to_fit();
  if (codec.parts()->ValidatePart({bytes, elements}).empty()) {
    CheckDecoding(codec, {bytes, elements}, begin);
  }
}

/// Cuts off the elements before `begin` and the last ones.
void CheckCutting(const Codec& codec, const Encoding& whole, std::size_t begin) {
  const std::size_t elements = (whole.elements - begin + 1) / 2;
  std::vector<std::byte> part(codec.parts()->PartBytes(whole, begin, elements));
  codec.parts()->CopyPart(whole, begin, elements, part);
  if (!codec.parts()->ValidatePart({part, elements}).empty()) {
    throw InternalError("a part of a valid encoding is not valid");
  }
  std::vector<float> expected(elements), decoded(elements);
  codec.Decode(whole, begin, expected);
  codec.Decode({part, elements}, 0, decoded);
  for (std::size_t i = 0; i < elements; ++i) {
    if (Equal(expected[i], decoded[i])) continue;
    throw InternalError("a part has another element " + std::to_string(i));
  }
}

}  // namespace

// A codec, flags, the number of elements (2 bytes), where to begin, the encoding.
std::vector<std::string> FuzzSeeds() {
  constexpr std::size_t kElements = 300;
  std::vector<float> values(kElements);
  for (std::size_t i = 0; i < kElements; ++i) values[i] = std::sin(static_cast<float>(i));
  std::vector<std::string> seeds;
  for (std::size_t choice = 0; choice < kCodecs.size(); ++choice) {
    const auto codec = CodecOf(choice);
    std::vector<std::byte> bytes(codec->EncodedBytes(kElements));
    codec->Encode(values, {}, bytes);
    const std::string name{static_cast<char>(choice)};
    const std::string begin{'\1'};
    const std::string count{static_cast<char>(kElements & 0xff), static_cast<char>(kElements >> 8)};
    seeds.push_back(name + std::string{'\0'} + count + begin + TextOf(bytes));
    if (codec->parts() != nullptr) {
      const std::size_t size = kElements - Codec::kAlignment;
      const Encoding whole{bytes, kElements};
      std::vector<std::byte> part(codec->parts()->PartBytes(whole, Codec::kAlignment, size));
      codec->parts()->CopyPart(whole, Codec::kAlignment, size, part);
      seeds.push_back(
          std::string{static_cast<char>(kPart | choice), '\0', static_cast<char>(size), '\0'} +
          begin + TextOf(part));
    }
    if (!HasBlocks(choice)) continue;
    seeds.push_back(name + std::string{'\xff', '\xff', '\xff'} + begin + TextOf(bytes));
  }
  return seeds;
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  FuzzInput input(data, size);
  const std::uint8_t chosen = input.Byte();
  const bool is_part = (chosen & kPart) != 0;
  const std::size_t choice = chosen & ~kPart;
  const auto codec = CodecOf(choice);
  const std::uint8_t flags = input.Byte();
  const std::size_t low = input.Byte();
  const std::size_t high = input.Byte();
  const std::size_t count = high << 8 | low;
  const bool many = (flags & kMany) == kMany && HasBlocks(choice);
  const std::size_t elements = many ? 3 * count : count % kFew;
  const std::size_t wanted = input.Byte() * Codec::kAlignment;
  const std::size_t begin = wanted <= elements ? wanted : 0;
  const std::string text = input.Rest();
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  if (is_part && codec->parts() != nullptr) {
    CheckPart(*codec, bytes, elements, begin);
    return 0;
  }
  if ((flags & kRightLength) != 0) bytes.resize(codec->EncodedBytes(elements));
  bytes.shrink_to_fit();
  const Encoding encoding{bytes, elements};
  if (!codec->Validate(encoding).empty()) return 0;
  CheckDecoding(*codec, encoding, begin);
  if (codec->parts() != nullptr) CheckCutting(*codec, encoding, begin);
  return 0;
}
