#include "ringside/common/codec/power_sgd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace ringside {
namespace {

std::vector<float> RandomValues(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  std::ranges::generate(values, [&] { return normal(random); });
  return values;
}

/// A matrix of that rank, of the shape that a bucket of `elements` gets.
std::vector<float> LowRank(std::size_t elements, int rank) {
  const PowerSgdShape shape(elements, 1);
  std::vector<float> matrix(elements);
  for (int k = 0; k < rank; ++k) {
    const auto u = RandomValues(shape.rows, static_cast<unsigned>(10 + k));
    const auto v = RandomValues(shape.columns, static_cast<unsigned>(20 + k));
    for (std::size_t i = 0; i < elements; ++i) {
      matrix[i] += u[i / shape.columns] * v[i % shape.columns];
    }
  }
  return matrix;
}

std::vector<float> Step(PowerSgd& power, std::span<const float> matrix, std::int64_t step = 0) {
  power.ComputeLeft(matrix, step);
  power.ComputeRight(matrix);
  std::vector<float> out(matrix.size());
  power.Reconstruct(out);
  return out;
}

double Distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  }
  return std::sqrt(sum);
}

double Length(std::span<const float> a) { return Distance(a, std::vector<float>(a.size())); }

TEST(PowerSgdTest, ShapesAreNearSquares) {
  const PowerSgdShape square(1 << 20, 4);
  EXPECT_EQ(square.rows, 1024U);
  EXPECT_EQ(square.columns, 1024U);
  EXPECT_EQ(square.factor_floats(), 2 * 1024 * 4U);
  const PowerSgdShape odd(1000, 4);
  EXPECT_EQ(odd.columns, 32U);
  EXPECT_EQ(odd.rows, 32U);
  EXPECT_TRUE(odd.compresses());
}

TEST(PowerSgdTest, TinyBucketsTravelAsTheyAre) {
  for (const std::size_t elements : {0, 1, 2, 5, 60}) {
    const PowerSgdShape shape(elements, 4);
    EXPECT_FALSE(shape.compresses()) << elements;
    EXPECT_EQ(shape.factor_floats(), elements);
  }
}

// With ranks that fill no group of columns.
TEST(PowerSgdTest, FindsAMatrixOfItsOwnRankAtOnce) {
  for (const int rank : {1, 2, 4, 5}) {
    const std::vector<float> matrix = LowRank(2500, rank);
    PowerSgd power(PowerSgdShape(matrix.size(), rank), 1, 0);
    EXPECT_LT(Distance(Step(power, matrix), matrix), 1e-4 * Length(matrix)) << rank;
  }
}

TEST(PowerSgdTest, ALastRowThatIsCutShortIsOneRankMore) {
  const std::vector<float> matrix = LowRank(2503, 2);
  PowerSgd power(PowerSgdShape(matrix.size(), 3), 1, 0);
  EXPECT_LT(Distance(Step(power, matrix), matrix), 1e-4 * Length(matrix));
}

TEST(PowerSgdTest, ALowerRankThanItsOwnLeavesColumnsOut) {
  const std::vector<float> matrix = LowRank(2500, 2);
  PowerSgd power(PowerSgdShape(matrix.size(), 4), 1, 0);
  for (int step = 0; step < 5; ++step) {
    EXPECT_LT(Distance(Step(power, matrix), matrix), 1e-4 * Length(matrix));
  }
}

TEST(PowerSgdTest, ComesBackFromZeros) {
  const std::vector<float> matrix = LowRank(2500, 3);
  PowerSgd power(PowerSgdShape(matrix.size(), 4), 1, 0);
  EXPECT_EQ(Length(Step(power, std::vector<float>(2500))), 0);
  EXPECT_LT(Distance(Step(power, matrix), matrix), 1e-4 * Length(matrix));
}

// When gradients are zero, the residual shrinks from step to step.
TEST(PowerSgdTest, GradientsThatVanishLeaveNumbers) {
  std::vector<float> residual = RandomValues(2500, 4);
  PowerSgd power(PowerSgdShape(residual.size(), 4), 1, 0);
  std::vector<float> out(residual.size());
  for (int step = 0; step <= 300; ++step) {
    power.ComputeLeft(residual, step);
    power.ComputeRight(residual);
    power.SubtractFrom(residual);
    power.Reconstruct(out);
    ASSERT_TRUE(std::isfinite(Length(out))) << step;
    ASSERT_TRUE(std::isfinite(Length(residual))) << step;
  }
}

TEST(PowerSgdTest, FindsAMatrixOfAnySize) {
  const std::vector<float> matrix = LowRank(2500, 2);
  for (const float size : {1e-24F, 1e-18F, 1e-12F, 1e12F, 1e18F, 1e24F}) {
    std::vector<float> sized = matrix;
    for (float& value : sized) value *= size;
    PowerSgd power(PowerSgdShape(matrix.size(), 2), 1, 0);
    for (int step = 0; step < 3; ++step) {
      ASSERT_LT(Distance(Step(power, sized), sized), 1e-4 * Length(sized)) << size << ", " << step;
    }
  }
}

TEST(PowerSgdTest, WarmStartImprovesOnTheSameMatrix) {
  const std::vector<float> matrix = RandomValues(10'000, 7);
  PowerSgd power(PowerSgdShape(matrix.size(), 4), 1, 0);
  const double first = Distance(Step(power, matrix), matrix);
  double last = first;
  for (int step = 0; step < 10; ++step) last = Distance(Step(power, matrix), matrix);
  EXPECT_LT(last, first);
  EXPECT_LT(last, Length(matrix));
}

// Two workers. The factors are linear in the matrices, so the sums of factors are those of the sum.
TEST(PowerSgdTest, SummedFactorsApproximateTheSummedMatrix) {
  const std::vector<float> a = LowRank(2500, 2);
  std::vector<float> b = a, sum = a;
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = b[i] * -3;
    sum[i] += b[i];
  }
  PowerSgd first(PowerSgdShape(2500, 2), 1, 0), second(PowerSgdShape(2500, 2), 1, 0);
  const auto add_up = [](std::span<float> x, std::span<float> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] = x[i] + y[i];
  };
  first.ComputeLeft(a, 0);
  second.ComputeLeft(b, 0);
  add_up(first.left(), second.left());
  first.ComputeRight(a);
  second.ComputeRight(b);
  std::vector<float> lost = a;
  first.SubtractFrom(lost);
  EXPECT_LT(Length(lost), 1e-4 * Length(a));
  add_up(first.right(), second.right());
  std::vector<float> out(2500), same(2500);
  first.Reconstruct(out);
  second.Reconstruct(same);
  EXPECT_EQ(out, same);
  EXPECT_LT(Distance(out, sum), 1e-4 * Length(sum));
}

TEST(PowerSgdTest, TheSameSeedGivesTheSameBits) {
  const std::vector<float> matrix = RandomValues(5000, 3);
  PowerSgd a(PowerSgdShape(5000, 4), 9, 64), b(PowerSgdShape(5000, 4), 9, 64),
      c(PowerSgdShape(5000, 4), 10, 64);
  const auto result = Step(a, matrix);
  EXPECT_EQ(result, Step(b, matrix));
  EXPECT_NE(result, Step(c, matrix));
}

}  // namespace
}  // namespace ringside
