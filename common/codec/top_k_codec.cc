// Selection in three parts. A sample gives a threshold that a little more than k elements should
// reach. One pass over all elements collects those that reach it. A selection among these few
// elements finds exactly k. If too few reach the threshold, all elements are collected. So the
// result does not depend on the sample.
#include "ringside/common/codec/top_k_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>

#include "ringside/common/base/errors.h"
#include "ringside/common/codec/codec_math.h"
#include "ringside/common/codec/raw_fallback_codec.h"

namespace ringside {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;  // elements whose indices fit into 16 bits
constexpr std::size_t kSample = 4096;

std::size_t Blocks(std::size_t elements) { return (elements + kBlock - 1) / kBlock; }

std::uint32_t MagnitudeBits(float value) {
  return std::bit_cast<std::uint32_t>(value) & 0x7fffffff;
}

/// Orders by falling magnitude, then by rising index.
std::uint64_t SortKey(std::uint32_t magnitude, std::size_t index) {
  return static_cast<std::uint64_t>(~magnitude) << 32 | index;
}

/// A magnitude that probably `count` of `values` reach, and not many more.
std::uint32_t GuessThreshold(std::span<const float> values, std::size_t count,
                             std::vector<std::uint32_t>& sample) {
  const std::size_t stride = std::max<std::size_t>(values.size() / kSample, 1) | 1;
  sample.clear();
  for (std::size_t i = 0; i < values.size(); i += stride) {
    sample.push_back(MagnitudeBits(values[i]));
  }
  const double expected = static_cast<double>(count) / static_cast<double>(values.size()) *
                          static_cast<double>(sample.size());
  const auto rank = static_cast<std::size_t>(expected + 4 * std::sqrt(expected) + 4);
  if (rank >= sample.size()) return 0;
  const auto at = sample.begin() + static_cast<std::ptrdiff_t>(rank);
  std::ranges::nth_element(sample, at, std::greater<>());
  return *at;
}

/// Collects the keys of the elements that reach `threshold`, in order of index, in `keys`, which
/// grows.
std::span<const std::uint64_t> Collect(std::span<const float> values, std::uint32_t threshold,
                                       std::size_t expected, std::vector<std::uint64_t>& keys) {
  constexpr std::size_t kRun = 1024;
  if (keys.size() < expected + kRun) keys.resize(expected + kRun);
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < values.size(); begin += kRun) {
    if (count + kRun > keys.size()) keys.resize(2 * keys.size() + kRun);
    const std::size_t end = std::min(begin + kRun, values.size());
    for (std::size_t i = begin; i < end; ++i) {
      // There is no branch, because the processor cannot predict which elements pass.
      const std::uint32_t magnitude = MagnitudeBits(values[i]);
      keys[count] = SortKey(magnitude, i);
      count += magnitude >= threshold ? 1 : 0;
    }
  }
  return std::span(keys).first(count);
}

constexpr std::size_t kKeptBytes = sizeof(std::uint16_t) + sizeof(float);  // of a kept element

std::size_t CountBytes(std::size_t elements) { return Blocks(elements) * sizeof(std::uint32_t); }

/// An encoding, or a part of one, whose length is right. Its fields are unaligned, so functions
/// read them.
class TopKView {
 public:
  explicit TopKView(const Encoding& encoding)
      : blocks_(Blocks(encoding.elements)),
        kept_((encoding.bytes.size() - CountBytes(encoding.elements)) / kKeptBytes),
        counts_(encoding.bytes.data()),
        indices_(counts_ + CountBytes(encoding.elements)),
        values_(indices_ + kept_ * sizeof(std::uint16_t)) {}

  std::size_t kept() const { return kept_; }
  std::size_t CountOf(std::size_t block) const {
    std::uint32_t count;
    std::memcpy(&count, counts_ + block * sizeof(count), sizeof(count));
    return count;
  }
  std::size_t IndexOf(std::size_t entry) const {
    std::uint16_t index;
    std::memcpy(&index, indices_ + entry * sizeof(index), sizeof(index));
    return index;
  }
  float ValueOf(std::size_t entry) const { return LoadFloat(values_ + entry * sizeof(float)); }

  /// Calls visit(entry, element) for each kept element in [begin, end), in order.
  template <typename Visit>
  void ForEach(std::size_t begin, std::size_t end, const Visit& visit) const {
    std::size_t entry = 0;
    for (std::size_t block = 0; block * kBlock < end; ++block) {
      const std::size_t base = block * kBlock;
      const std::size_t last = entry + CountOf(block);
      if (base + kBlock > begin) {
        std::size_t next = LowerBound(entry, last, begin > base ? begin - base : 0);
        for (; next < last && base + IndexOf(next) < end; ++next) {
          visit(next, base + IndexOf(next));
        }
      }
      entry = last;
    }
  }
  /// The kept elements in [begin, end).
  std::size_t CountIn(std::size_t begin, std::size_t end) const {
    return EntryAt(end) - EntryAt(begin);
  }

 private:
  /// The first entry of element `index` or a later one.
  std::size_t EntryAt(std::size_t index) const {
    const std::size_t block = index / kBlock;
    std::size_t first = 0;
    for (std::size_t before = 0; before < block; ++before) first += CountOf(before);
    return block == blocks_ ? first : LowerBound(first, first + CountOf(block), index % kBlock);
  }
  /// The first entry in [first, last) whose index is at least `index`. All entries are of one
  /// block.
  std::size_t LowerBound(std::size_t first, std::size_t last, std::size_t index) const {
    while (first < last) {
      const std::size_t middle = first + (last - first) / 2;
      if (IndexOf(middle) < index) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first;
  }

  std::size_t blocks_;
  std::size_t kept_;
  const std::byte* counts_;
  const std::byte* indices_;
  const std::byte* values_;
};

/// Writes an encoding of `elements` floats, of which so many are kept.
class TopKWriter {
 public:
  TopKWriter(std::size_t elements, std::size_t kept, std::span<std::byte> out)
      : blocks_(Blocks(elements)),
        counts_(out.data()),
        indices_(counts_ + CountBytes(elements)),
        values_(indices_ + kept * sizeof(std::uint16_t)) {}
  ~TopKWriter() { CloseBlocks(blocks_); }
  TopKWriter(const TopKWriter&) = delete;
  TopKWriter& operator=(const TopKWriter&) = delete;

  /// Elements ascend.
  void Keep(std::size_t element, float value) {
    if (element / kBlock > block_) CloseBlocks(element / kBlock);
    const auto index = static_cast<std::uint16_t>(element % kBlock);
    std::memcpy(indices_ + entry_ * sizeof(index), &index, sizeof(index));
    StoreFloat(values_ + entry_ * sizeof(float), value);
    ++entry_;
    ++count_;
  }

 private:
  /// Writes the counts of all blocks before this one.
  void CloseBlocks(std::size_t end) {
    for (; block_ < end; ++block_) {
      std::memcpy(counts_ + block_ * sizeof(count_), &count_, sizeof(count_));
      count_ = 0;
    }
  }

  std::size_t blocks_;
  std::byte* counts_;
  std::byte* indices_;
  std::byte* values_;
  std::size_t entry_ = 0;
  std::size_t block_ = 0;    // that the next element may belong to
  std::uint32_t count_ = 0;  // kept elements of this block so far
};

std::size_t SumOfCounts(const Encoding& encoding) {
  std::size_t sum = 0;
  for (std::size_t block = 0; block < Blocks(encoding.elements); ++block) {
    std::uint32_t count;
    std::memcpy(&count, encoding.bytes.data() + block * sizeof(count), sizeof(count));
    sum += count;
  }
  return sum;
}

/// For `Codec::Validate`, when the length is right.
std::string WrongContent(const Encoding& encoding) {
  const TopKView view(encoding);
  std::size_t entry = 0;
  for (std::size_t block = 0; block < Blocks(encoding.elements); ++block) {
    const std::size_t end = entry + view.CountOf(block);
    if (end > view.kept()) return "it counts more elements than it holds";
    std::size_t least = 0;
    const std::size_t most = encoding.elements - block * kBlock;
    for (; entry < end; ++entry) {
      const std::size_t index = view.IndexOf(entry);
      if (index < least || index >= most) return "its indices do not rise within their block";
      least = index + 1;
    }
  }
  return entry == view.kept() ? std::string() : "it counts fewer elements than it holds";
}

void CheckRatio(double ratio, std::string_view text) {
  constexpr double kMostRatio = 2.0 / 3;  // 6 bytes an element instead of 4
  if (!(ratio > 0 && ratio <= 1)) {
    throw ConfigError("a ratio cannot be " + std::string(text) + "; topk needs 0 < ratio <= 1");
  }
  if (ratio > kMostRatio) {
    throw ConfigError("a ratio of " + std::string(text) +
                      " sends more bytes than fp32: topk sends six bytes for each kept element, "
                      "fp32 four for each element; give a ratio up to 0.66");
  }
}

}  // namespace

const CodecEntry kTopKCodec{
    .name = "topk",
    .summary = "the share RATIO of the elements that is largest, exactly; the others are zero",
    .scheme = AggregationScheme::kGathered,
    .parameter = "RATIO",
    .check_parameter = CheckRatio,
    .error_feedback = true,
    .make = [](const CodecOptions& options, int /*rank*/) -> std::unique_ptr<Codec> {
      return std::make_unique<RawFallbackCodec>(std::make_unique<TopKCodec>(options.parameter));
    },
};

std::span<const std::uint32_t> LargestMagnitudes::Select(std::span<const float> values,
                                                         std::size_t count) {
  indices_.clear();
  if (count == 0) return indices_;
  auto keys = Collect(values, GuessThreshold(values, count, sample_), count + count / 4, keys_);
  if (keys.size() < count) keys = Collect(values, 0, values.size(), keys_);
  selected_.reserve(keys_.size());
  selected_.assign(keys.begin(), keys.end());
  const auto last = selected_.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::ranges::nth_element(selected_, last);
  indices_.reserve(count);
  for (const std::uint64_t key : keys) {
    if (key <= *last) indices_.push_back(static_cast<std::uint32_t>(key));
  }
  return indices_;
}

std::size_t TopKCodec::Kept(std::size_t elements) const {
  // A rounding error can put the product above the intended whole number.
  const double kept = std::ceil(ratio_ * static_cast<double>(elements) * (1 - 1e-12));
  return std::min(elements,
                  std::max<std::size_t>(static_cast<std::size_t>(kept), elements == 0 ? 0 : 1));
}

std::size_t TopKCodec::EncodedBytes(std::size_t elements) const {
  return CountBytes(elements) + kKeptBytes * Kept(elements);
}

void TopKCodec::Encode(std::span<const float> values, const GradientPosition&,
                       std::span<std::byte> out) {
  if (values.empty()) return;
  const std::span<const std::uint32_t> kept = largest_.Select(values, Kept(values.size()));
  TopKWriter writer(values.size(), kept.size(), out);
  for (const std::uint32_t element : kept) writer.Keep(element, values[element]);
}

std::string TopKCodec::Validate(const Encoding& encoding) const {
  std::string wrong = WrongLength(encoding, EncodedBytes(encoding.elements));
  return wrong.empty() ? WrongContent(encoding) : wrong;
}

void TopKCodec::Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const {
  std::ranges::fill(out, 0.0F);
  Add(encoding, begin, 1, out);
}

void TopKCodec::Add(const Encoding& encoding, std::size_t begin, float factor,
                    std::span<float> sum) const {
  const TopKView view(encoding);
  view.ForEach(begin, begin + sum.size(), [&](std::size_t entry, std::size_t element) {
    sum[element - begin] += factor * view.ValueOf(entry);
  });
}

std::size_t TopKCodec::PartBytes(const Encoding& whole, std::size_t begin,
                                 std::size_t elements) const {
  return CountBytes(elements) + kKeptBytes * TopKView(whole).CountIn(begin, begin + elements);
}

void TopKCodec::CopyPart(const Encoding& whole, std::size_t begin, std::size_t elements,
                         std::span<std::byte> out) const {
  const TopKView view(whole);
  TopKWriter writer(elements, (out.size() - CountBytes(elements)) / kKeptBytes, out);
  view.ForEach(begin, begin + elements, [&](std::size_t entry, std::size_t element) {
    writer.Keep(element - begin, view.ValueOf(entry));
  });
}

std::size_t TopKCodec::UnpaddedBytes(const Encoding& padded) const {
  const std::size_t counts = CountBytes(padded.elements);
  if (padded.bytes.size() < counts) return counts;
  return counts + kKeptBytes * SumOfCounts(padded);
}

std::string TopKCodec::ValidatePart(const Encoding& part) const {
  const std::size_t counts = CountBytes(part.elements);
  if (part.bytes.size() < counts || (part.bytes.size() - counts) % kKeptBytes != 0) {
    return "its length is not that of whole elements";
  }
  return WrongContent(part);
}

}  // namespace ringside
