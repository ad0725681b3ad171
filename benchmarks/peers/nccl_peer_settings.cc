#include "benchmarks/peers/nccl_peer_settings.h"

#include <fmt/format.h>

#include <charconv>
#include <span>
#include <string_view>

namespace ringside {
namespace {

std::size_t ReadNumber(std::string_view flag, std::string_view text, std::size_t least,
                       std::size_t most) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
    throw PeerUsageError(
        fmt::format("{}: '{}' is no number from {} to {}", flag, text, least, most));
  }
  return number;
}

std::vector<std::size_t> ReadNumbers(std::string_view flag, std::string_view text,
                                     std::size_t least, std::size_t most) {
  std::vector<std::size_t> numbers;
  for (;;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    numbers.push_back(ReadNumber(flag, text.substr(0, comma), least, most));
    if (comma == text.size()) return numbers;
    text.remove_prefix(comma + 1);
  }
}

/// Reads the flag at `words[0]`. Returns how many words it has taken.
std::size_t ReadFlag(std::span<char* const> words, NcclPeerSettings& settings) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 40;
  constexpr std::size_t kMostCount = 1'000'000;
  const std::string_view flag = words[0];
  const std::string_view value = words.size() > 1 ? words[1] : "";
  if (flag == "--in-place" || flag == "--share-gpu") {
    (flag == "--in-place" ? settings.in_place_alone : settings.share_gpu) = true;
    return 1;
  }
  if (flag == "--blocking" && (value.empty() || value.starts_with("--"))) {
    settings.blocking = {1};
    return 1;
  }
  if (flag == "--ranks") {
    settings.ranks = static_cast<int>(ReadNumber(flag, value, 1, kMostNcclPeerRanks));
  } else if (flag == "--bytes") {
    settings.bytes = ReadNumbers(flag, value, sizeof(float), kMostBytes);
  } else if (flag == "--iterations") {
    settings.iterations = ReadNumbers(flag, value, 1, kMostCount);
  } else if (flag == "--warmup") {
    settings.warmup = static_cast<int>(ReadNumber(flag, value, 0, kMostCount));
  } else if (flag == "--blocking") {
    settings.blocking = ReadNumbers(flag, value, 0, 2);
  } else if (flag == "--timeout") {
    settings.timeout_s = static_cast<unsigned>(ReadNumber(flag, value, 1, kMostCount));
  } else if (flag == "--algorithm" && (value == "ring" || value == "tree")) {
    settings.algorithm = value == "tree" ? NcclAlgorithm::kTree : NcclAlgorithm::kRing;
  } else {
    throw PeerUsageError(
        fmt::format("{} {}: not known; the first lines of its source have the usage", flag, value));
  }
  return 2;
}

}  // namespace

NcclPeerSettings ReadNcclPeerSettings(int argc, char** argv) {
  NcclPeerSettings settings;
  std::span<char* const> words(argv + 1, static_cast<std::size_t>(argc - 1));
  while (!words.empty()) words = words.subspan(ReadFlag(words, settings));
  if (settings.ranks == 0 || settings.bytes.empty()) {
    throw PeerUsageError("--ranks and --bytes are needed");
  }
  if (settings.iterations.size() != 1 && settings.iterations.size() != settings.bytes.size()) {
    throw PeerUsageError("--iterations: one number, or one for each size");
  }
  return settings;
}

}  // namespace ringside
