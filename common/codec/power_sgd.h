#ifndef RINGSIDE_COMMON_CODEC_POWER_SGD_H_
#define RINGSIDE_COMMON_CODEC_POWER_SGD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ringside {

/// The matrix M that a bucket is read as, row by row, the last row filled up with zeros. Buckets
/// know no tensor shapes, so it is as near to a square as can be: that makes the factors smallest.
struct PowerSgdShape {
  PowerSgdShape(std::size_t elements, int rank);

  std::size_t elements;
  std::size_t columns;
  std::size_t rows;
  std::size_t rank;  ///< Of the factors P (rows x rank) and Q (columns x rank).

  std::size_t left_floats() const { return rows * rank; }
  std::size_t right_floats() const { return columns * rank; }
  /// False: the factors are no smaller than the bucket, which travels as it is.
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
///   ComputeLeft(m);  sum left();  ComputeRight(m);  sum right();  Reconstruct(out)
///
/// Q is kept for the next step (warm start): its directions, so that gradients of any length can be
/// told apart from nothing. All ranks that sum to the same bits hold the same
/// bits. Every step reads m twice; its arithmetic is 4 * rank operations an element.
class PowerSgd {
 public:
  /// `seed` and `offset` (of the bucket in the flat vector) decide the first Q: the same on every
  /// rank.
  PowerSgd(const PowerSgdShape& shape, std::uint64_t seed, std::size_t offset);

  /// P = M Q. `m` has `shape.elements` floats, here and below.
  void ComputeLeft(std::span<const float> m);
  /// P, column by column.
  std::span<float> left() { return std::span(left_).first(shape_.left_floats()); }
  /// Makes the columns of P orthonormal (modified Gram-Schmidt), then Q = transposed M P. A column
  /// that the others span is left out of this step and begins anew in the next.
  void ComputeRight(std::span<const float> m);
  /// Q, column by column.
  std::span<float> right() { return std::span(right_).first(shape_.right_floats()); }
  /// out = P transposed Q.
  void Reconstruct(std::span<float> out) const;
  /// out -= P transposed Q: called before Q is summed, it leaves of M what this worker lost.
  void SubtractFrom(std::span<float> out) const;

 private:
  void AddProduct(float factor, std::span<float> out) const;
  void Orthogonalise();
  void NormaliseRight();
  void FillRandomly(std::size_t column);
  void StartAnew();

  const PowerSgdShape shape_;
  const std::uint64_t seed_;
  const std::size_t offset_;
  std::uint64_t draws_ = 0;
  // With columns of zeros up to a multiple of those that are worked on at once.
  std::vector<float> left_;
  std::vector<float> right_;
  std::vector<std::size_t> spanned_;  // columns of P that were left out
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_POWER_SGD_H_
