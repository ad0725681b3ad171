#include "ringside/experiments/verify/equivalence.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#include "ringside/common/core/errors.h"
#include "ringside/experiments/system/sha256.h"

namespace ringside {

namespace {

constexpr std::string_view kMagic = "RSPARAM1";
constexpr std::size_t kDigestDigits = 64;
constexpr std::size_t kHeaderBytes = kMagic.size() + sizeof(std::uint64_t) + kDigestDigits;

}  // namespace

std::vector<float> ReadParams(const std::filesystem::path& bundle) {
  const std::string path = (bundle / "params.bin").string();
  std::ifstream in(path, std::ios::binary);
  if (!in) throw DataError(path, "the run left no parameters");
  std::array<char, kHeaderBytes> header{};
  in.read(header.data(), header.size());
  if (!in || !std::string_view(header.data(), header.size()).starts_with(kMagic)) {
    throw DataError(path, 0, "expected parameters, which begin with RSPARAM1");
  }
  std::uint64_t count = 0;
  std::memcpy(&count, header.data() + kMagic.size(), sizeof(count));
  const std::uint64_t bytes = std::filesystem::file_size(path) - kHeaderBytes;
  if (bytes % sizeof(float) != 0 || bytes / sizeof(float) != count) {
    throw DataError(path, kMagic.size(), "expected as many parameters as the file holds");
  }
  std::vector<float> params(count);
  in.read(reinterpret_cast<char*>(params.data()), static_cast<std::streamsize>(bytes));
  const std::string_view digest(header.data() + kHeaderBytes - kDigestDigits, kDigestDigits);
  if (!in || Sha256Hex(std::as_bytes(std::span(params))) != digest) {
    throw DataError(path, kHeaderBytes, "expected parameters with the digest of the header");
  }
  return params;
}

double RelativeDifference(std::span<const float> a, std::span<const float> reference) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (a.size() != reference.size()) return kInfinite;
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = double{a[i]} - double{reference[i]};
    difference += d * d;
    norm += double{reference[i]} * double{reference[i]};
  }
  if (!std::isfinite(difference) || !std::isfinite(norm)) return kInfinite;
  return norm == 0 ? std::sqrt(difference) : std::sqrt(difference / norm);
}

bool BitwiseEqual(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

}  // namespace ringside
