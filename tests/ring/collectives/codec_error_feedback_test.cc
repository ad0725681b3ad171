// Tests what a codec loses on the way, and that error feedback brings it in a later step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tests/ring/collectives/codec_collective_testing.h"

namespace ringside {
namespace {

/// The difference between the total of all sums and the total of all gradients. Every rank has
/// gradients of its own, the same in every step.
struct Drift {
  std::vector<double> error;      // of each element
  std::vector<double> expected;   // of one step
  std::vector<double> magnitude;  // of one step: of all ranks together
};

constexpr int kDriftSteps = 100;

Drift DriftOf(Collective& sum, CodecMember& m, int rank, int world) {
  const std::size_t elements = m.space.size();
  Drift drift{std::vector<double>(elements), std::vector<double>(elements),
              std::vector<double>(elements)};
  for (int each = 0; each < world; ++each) {
    FillRandomly(m.space.grads(), each, 0);
    for (std::size_t i = 0; i < elements; ++i) {
      drift.expected[i] += static_cast<double>(m.space.grads()[i]);
      drift.magnitude[i] += std::abs(static_cast<double>(m.space.grads()[i]));
    }
  }
  for (int step = 0; step < kDriftSteps; ++step) {
    FillRandomly(m.space.grads(), rank, 0);
    for (int b = 0; b < m.plan.buckets(); ++b) sum.AllReduceSum(m.Message(b, step));
    for (std::size_t i = 0; i < elements; ++i) {
      drift.error[i] += static_cast<double>(m.space.grads()[i]) - drift.expected[i];
    }
  }
  return drift;
}

double Length(std::span<const double> values) {
  double square = 0;
  for (const double value : values) square += value * value;
  return std::sqrt(square);
}

/// Whether no element has lost more than the last residuals of all ranks can hold. A residual holds
/// what one encoding has rounded off.
bool IsWithinResiduals(const Drift& drift, const std::string& codec, int world) {
  const double largest = *std::ranges::max_element(drift.magnitude);
  for (std::size_t i = 0; i < drift.error.size(); ++i) {
    const double rounding = codec == "int8"   ? largest / 127
                            : codec == "bf16" ? drift.magnitude[i] * 0x1p-8
                                              : drift.magnitude[i] * 0x1p-11 + 0x1p-25;
    // Two things add a little: the sums of floats, and the residual that is encoded too.
    if (std::abs(drift.error[i]) > world * (1.1 * rounding + 1e-7)) return false;
  }
  return true;
}

/// Runs with error feedback. Without topk:0.01, which would need more steps than are run to send
/// every element.
class ErrorFeedbackTest : public CodecCollectiveTest {};

INSTANTIATE_TEST_SUITE_P(Ways, ErrorFeedbackTest,
                         testing::ValuesIn(CodecSettingsWhere([](const CodecSetting& setting) {
                           if (setting.world == 1 || setting.codec == "topk:0.01") return false;
                           return !CheckCodecOn(
                               setting.entry,
                               CodecOptionsOf(setting.codec, ErrorFeedback::kOn).codec);
                         })),
                         NameOfCodecSetting);

// Nothing is lost: the totals differ only by the residuals that the ranks still keep.
TEST_P(ErrorFeedbackTest, BringsEverythingInTheEnd) {
  const std::string codec = GetParam().codec;
  const StrategyOptions options = CodecOptionsOf(codec, ErrorFeedback::kOn);
  OnEveryRank(2000, options, [&](Collective& sum, CodecMember& m, int rank) {
    const Drift drift = DriftOf(sum, m, rank, world());
    if (RoundsOnItsWay(codec)) {
      EXPECT_TRUE(IsWithinResiduals(drift, codec, world()));
    } else {
      EXPECT_LT(Length(drift.error), 0.25 * kDriftSteps * Length(drift.expected));
    }
  });
}

class RoundingTest : public CodecCollectiveTest {};

INSTANTIATE_TEST_SUITE_P(Ways, RoundingTest,
                         testing::ValuesIn(CodecSettingsWhere([](const CodecSetting& setting) {
                           return setting.world > 1 && setting.codec == "bf16";
                         })),
                         NameOfCodecSetting);

TEST_P(RoundingTest, AddsUpWithoutErrorFeedback) {
  OnEveryRank(2000, CodecOptionsOf("bf16", ErrorFeedback::kOff),
              [&](Collective& sum, CodecMember& m, int rank) {
                EXPECT_FALSE(IsWithinResiduals(DriftOf(sum, m, rank, world()), "bf16", world()));
              });
}

}  // namespace
}  // namespace ringside
