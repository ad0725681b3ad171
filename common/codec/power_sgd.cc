// The loops work on four columns of the factors at once. Then each float of the matrix that is read
// from memory is used in enough arithmetic to hide the read, and the parts of the factors in use
// stay in the first-level cache. Sums run in sixteen fixed lanes, whatever the vector width.
#include "ringside/common/codec/power_sgd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "ringside/common/base/counter_random.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/base/vector_clones.h"
#include "ringside/common/codec/codec_math.h"

namespace ringside {
namespace {

constexpr std::size_t kColumns = 4;
constexpr std::size_t kLanes = 16;
/// The smallest squared length of a column. One over its root is still far from the largest float.
constexpr double kLeastSquare = 1e-60;

/// Sixteen floats at any address.
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias));

std::size_t PaddedRank(const PowerSgdShape& shape) {
  return (shape.rank + kColumns - 1) / kColumns * kColumns;
}

// dots[c] = row . factor[c], the factor's columns `stride` apart.
RINGSIDE_VECTOR_CLONES void DotColumns(const float* row, std::size_t count, const float* factor,
                                       std::size_t stride, float* dots) {
  Lanes sums[kColumns] = {};
  std::size_t j = 0;
  for (; j + kLanes <= count; j += kLanes) {
    const Lanes values = *reinterpret_cast<const Lanes*>(row + j);
    for (std::size_t c = 0; c < kColumns; ++c) {
      sums[c] += values * *reinterpret_cast<const Lanes*>(factor + c * stride + j);
    }
  }
  for (std::size_t c = 0; c < kColumns; ++c) {
    float sum = 0;
    for (std::size_t rest = j; rest < count; ++rest) sum += row[rest] * factor[c * stride + rest];
    for (std::size_t lane = 0; lane < kLanes; ++lane) sum += sums[c][lane];
    dots[c] = sum;
  }
}

// factor[c] += scales[c] * row.
RINGSIDE_VECTOR_CLONES void AddToColumns(const float* __restrict row, std::size_t count,
                                         const float* scales, float* __restrict factor,
                                         std::size_t stride) {
  for (std::size_t c = 0; c < kColumns; ++c) {
    const float scale = scales[c];
    float* __restrict column = factor + c * stride;
    for (std::size_t j = 0; j < count; ++j) column[j] += scale * row[j];
  }
}

// row += sum over c of scales[c] * factor[c].
RINGSIDE_VECTOR_CLONES void AddColumns(const float* __restrict factor, std::size_t stride,
                                       const float* scales, float* __restrict row,
                                       std::size_t count) {
  const float* __restrict second = factor + stride;
  const float* __restrict third = second + stride;
  const float* __restrict fourth = third + stride;
  const float s0 = scales[0], s1 = scales[1], s2 = scales[2], s3 = scales[3];
  for (std::size_t j = 0; j < count; ++j) {
    row[j] += (s0 * factor[j] + s1 * second[j]) + (s2 * third[j] + s3 * fourth[j]);
  }
}

double Dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

void Scale(float factor, std::span<float> values) {
  for (float& value : values) value *= factor;
}

void CheckRank(double rank, std::string_view text) {
  constexpr int kMaxRank = 1024;
  if (rank >= 1 && rank <= kMaxRank) return;
  throw ConfigError("a rank cannot be " + std::string(text) +
                    "; powersgd needs 1 <= rank <= " + std::to_string(kMaxRank));
}

}  // namespace

const CodecEntry kPowerSgdCodec{
    .name = "powersgd",
    .summary = "two factors of RANK columns, whose product is close to the gradient",
    .scheme = AggregationScheme::kFactors,
    .parameter = "RANK",
    .whole_parameter = true,
    .check_parameter = CheckRank,
    .error_feedback = true,
    .wire_bytes =
        [](const CodecOptions& options, std::size_t elements) {
          return PowerSgdShape(elements, options).factor_floats() * sizeof(float);
        },
};

PowerSgdShape::PowerSgdShape(std::size_t count, int wanted_rank)
    : elements(count),
      columns(static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))))),
      rows(columns == 0 ? 0 : (count + columns - 1) / columns),
      rank(std::min(static_cast<std::size_t>(wanted_rank), rows)) {}

PowerSgd::PowerSgd(const PowerSgdShape& shape, std::uint64_t seed, std::size_t offset)
    : shape_(shape),
      seed_(seed),
      offset_(offset),
      left_(PaddedRank(shape) * shape.rows),
      right_(PaddedRank(shape) * shape.columns) {
  for (std::size_t column = 0; column < shape_.rank; ++column) FillRandomly(column, 0);
}

void PowerSgd::ComputeLeft(std::span<const float> m, std::int64_t step) {
  NormaliseRight(step);
  for (std::size_t i = 0; i < shape_.rows; ++i) {
    const std::size_t begin = i * shape_.columns;
    const std::size_t count = std::min(shape_.columns, m.size() - begin);
    for (std::size_t first = 0; first < shape_.rank; first += kColumns) {
      std::array<float, kColumns> dots;
      DotColumns(m.data() + begin, count, right_.data() + first * shape_.columns, shape_.columns,
                 dots.data());
      for (std::size_t c = 0; c < kColumns; ++c) left_[(first + c) * shape_.rows + i] = dots[c];
    }
  }
}

void PowerSgd::ComputeRight(std::span<const float> m) {
  Orthogonalise();
  std::ranges::fill(right_, 0.0F);
  for (std::size_t i = 0; i < shape_.rows; ++i) {
    const std::size_t begin = i * shape_.columns;
    const std::size_t count = std::min(shape_.columns, m.size() - begin);
    for (std::size_t first = 0; first < shape_.rank; first += kColumns) {
      std::array<float, kColumns> scales;
      for (std::size_t c = 0; c < kColumns; ++c) scales[c] = left_[(first + c) * shape_.rows + i];
      AddToColumns(m.data() + begin, count, scales.data(), right_.data() + first * shape_.columns,
                   shape_.columns);
    }
  }
}

void PowerSgd::Reconstruct(std::span<float> out) const {
  std::ranges::fill(out, 0.0F);
  AddProduct(1, out);
}

void PowerSgd::SubtractFrom(std::span<float> out) const { AddProduct(-1, out); }

void PowerSgd::AddProduct(float factor, std::span<float> out) const {
  for (std::size_t i = 0; i < shape_.rows; ++i) {
    const std::size_t begin = i * shape_.columns;
    const std::size_t count = std::min(shape_.columns, out.size() - begin);
    for (std::size_t first = 0; first < shape_.rank; first += kColumns) {
      std::array<float, kColumns> scales;
      for (std::size_t c = 0; c < kColumns; ++c) {
        scales[c] = factor * left_[(first + c) * shape_.rows + i];
      }
      AddColumns(right_.data() + first * shape_.columns, shape_.columns, scales.data(),
                 out.data() + begin, count);
    }
  }
}

// A column that is a combination of earlier columns would turn into their rounding errors. Its
// direction would not be new, and the projection would count one direction twice. As zeros it gives
// a column of zeros in Q, which the next step fills anew.
void PowerSgd::Orthogonalise() {
  constexpr double kLeast = 1e-8;  // share of the squared length that a new direction must have
  const auto column = [&](std::size_t index) {
    return std::span(left_).subspan(index * shape_.rows, shape_.rows);
  };
  for (std::size_t k = 0; k < shape_.rank; ++k) {
    const std::span<float> own = column(k);
    const double before = Dot(own, own);
    for (std::size_t other = 0; other < k; ++other) {
      AddScaled(static_cast<float>(-Dot(own, column(other))), column(other), own);
    }
    const double after = Dot(own, own);
    if (!(after > kLeast * before) || after < kLeastSquare) {
      std::ranges::fill(own, 0.0F);
    } else {
      Scale(static_cast<float>(1 / std::sqrt(after)), own);
    }
  }
}

// Q is as long as M was in the last step. Without scaling, P would be as long as M squared, which
// can overflow a float even when the gradients are far from overflow.
void PowerSgd::NormaliseRight(std::int64_t step) {
  for (std::size_t k = 0; k < shape_.rank; ++k) {
    const std::span<float> own = std::span(right_).subspan(k * shape_.columns, shape_.columns);
    const auto usable = [](double square) {
      return square >= kLeastSquare && std::isfinite(square);
    };
    if (!usable(Dot(own, own))) FillRandomly(k, step + 1);
    Scale(static_cast<float>(1 / std::sqrt(Dot(own, own))), own);
  }
}

// Uniform in [-1, 1): only the direction matters.
void PowerSgd::FillRandomly(std::size_t column, std::int64_t draw) {
  const RandomKey key = RandomKey::Of({seed_, offset_, static_cast<std::uint64_t>(draw), column});
  for (std::size_t j = 0; j < shape_.columns; ++j) {
    const std::uint32_t bits = RandomBits(key, static_cast<std::uint32_t>(j)) >> 8;
    right_[column * shape_.columns + j] = static_cast<float>(bits) * 0x1p-23F - 1;
  }
}

}  // namespace ringside
