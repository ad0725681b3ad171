#include "ringside/experiments/verify/equivalence.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace ringside {

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
