#include "experiments/verify/equivalence.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "common/errors.h"

namespace ringside {

std::vector<float> ReadParams(const std::filesystem::path& bundle) {
  const std::filesystem::path path = bundle / "params.bin";
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) throw DataError(path.string(), 0, "the run left no parameters");
  const auto bytes = static_cast<std::int64_t>(in.tellg());
  if (bytes % static_cast<std::int64_t>(sizeof(float)) != 0) {
    throw DataError(path.string(), bytes, "expected whole 4-byte floats");
  }
  std::vector<float> params(static_cast<std::size_t>(bytes) / sizeof(float));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(params.data()), bytes);
  if (!in) throw DataError(path.string(), in.gcount(), "cannot be read");
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
