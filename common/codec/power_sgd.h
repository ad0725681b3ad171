#ifndef RINGSIDE_COMMON_CODEC_POWER_SGD_H_
#define RINGSIDE_COMMON_CODEC_POWER_SGD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ringside/common/codec/codec_options.h"

namespace ringside {

extern const CodecEntry kPowerSgdCodec;

/// The matrix M that a bucket is read as: row by row, with the last row filled up with zeros.
/// Buckets have no tensor shapes. M is nearly square, because this makes the factors smallest.
struct PowerSgdShape {
  PowerSgdShape(std::size_t elements, int rank);
  /// `options` are powersgd's.
  PowerSgdShape(std::size_t count, const CodecOptions& options)
      : PowerSgdShape(count, static_cast<int>(options.parameter)) {}

  std::size_t elements;
  std::size_t columns;
  std::size_t rows;
  std::size_t rank;  ///< Of the factors P (rows x rank) and Q (columns x rank).

  std::size_t left_floats() const { return rows * rank; }
  std::size_t right_floats() const { return columns * rank; }
  /// False: the factors are not smaller than the bucket, so the bucket is sent unchanged.
  bool compresses() const { return left_floats() + right_floats() < elements; }
  /// Floats that are summed over all ranks in place of the bucket.
  std::size_t factor_floats() const {
    return compresses() ? left_floats() + right_floats() : elements;
  }
};

/// PowerSGD (Vogels, Karimireddy and Jaggi, NeurIPS 2019) for one bucket: a step of the power
/// iteration finds a low-rank approximation of the sum of all workers' matrices, with two sums over
/// factors between its parts:
///
///   ComputeLeft(m, step);  sum left();  ComputeRight(m);  sum right();  Reconstruct(out)
///
/// Q is kept for the next step (warm start). Only its directions are used, so that gradients of any
/// magnitude differ from zero. A column of Q without a direction starts again with random numbers,
/// which depend only on the seed, the offset, the step and the column. If the sums have the same
/// bits on all ranks, the results have the same bits too. A step reads m twice and takes 4 * rank
/// operations per element.
class PowerSgd {
 public:
  /// `seed` and `offset` (of the bucket in the flat vector) decide the first Q, which is the same
  /// on every rank.
  PowerSgd(const PowerSgdShape& shape, std::uint64_t seed, std::size_t offset);

  /// P = M Q. `m` has `shape.elements` floats, here and below. `step` >= 0.
  void ComputeLeft(std::span<const float> m, std::int64_t step);
  /// P, column by column.
  std::span<float> left() { return std::span(left_).first(shape_.left_floats()); }
  /// Makes the columns of P orthonormal (modified Gram-Schmidt), then computes Q = transposed M P.
  /// A column that is a combination of the others is left out of this step and starts again in the
  /// next.
  void ComputeRight(std::span<const float> m);
  /// Q, column by column.
  std::span<float> right() { return std::span(right_).first(shape_.right_floats()); }
  /// out = P transposed Q.
  void Reconstruct(std::span<float> out) const;
  /// out -= P transposed Q. If this is called before Q is summed, `out` keeps the part of M that
  /// this worker's factors do not represent.
  void SubtractFrom(std::span<float> out) const;

 private:
  void AddProduct(float factor, std::span<float> out) const;
  void Orthogonalise();
  void NormaliseRight(std::int64_t step);
  void FillRandomly(std::size_t column, std::int64_t draw);

  const PowerSgdShape shape_;
  const std::uint64_t seed_;
  const std::size_t offset_;
  // Padded with zero columns to a multiple of the number of columns that a loop handles at once.
  std::vector<float> left_;
  std::vector<float> right_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_POWER_SGD_H_
