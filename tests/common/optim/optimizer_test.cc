#include "ringside/common/optim/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "tests/common/numbers.h"

namespace ringside {
namespace {

using Kind = OptimizerOptions::Kind;

struct Case {
  std::string name;
  OptimizerOptions options;
};

void PrintTo(const Case& rule, std::ostream* out) { *out << rule.name; }

std::vector<Case> Cases() {
  return {{"Sgd", {}},
          {"SgdDecay", {.weight_decay = 0.01}},
          {"Momentum", {.momentum = 0.9}},
          {"MomentumDecay", {.momentum = 0.9, .weight_decay = 0.01}},
          {"Nesterov", {.momentum = 0.9, .nesterov = true}},
          {"NesterovDecay", {.momentum = 0.8, .nesterov = true, .weight_decay = 0.05}},
          {"Adam", {.kind = Kind::kAdam}},
          {"AdamDecay", {.kind = Kind::kAdam, .weight_decay = 0.01}},
          {"AdamOtherBetas", {.kind = Kind::kAdam, .beta1 = 0.5, .beta2 = 0.9, .epsilon = 1e-3}},
          {"AdamW", {.kind = Kind::kAdamW, .weight_decay = 0.01}},
          {"AdamWNoDecay", {.kind = Kind::kAdamW}},
          {"SgdOfAMean", {.momentum = 0.9, .weight_decay = 0.01, .gradient_scale = 0.25}},
          {"NesterovOfAMean", {.momentum = 0.9, .nesterov = true, .gradient_scale = 0.5}},
          {"PlainOfAMean", {.weight_decay = 0.01, .gradient_scale = 0.5}},
          {"AdamWOfAMean", {.kind = Kind::kAdamW, .weight_decay = 0.01, .gradient_scale = 0.125}}};
}

std::string CaseName(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

// The update of one parameter in double, as the documentation of torch.optim states it.
class Reference {
 public:
  explicit Reference(const OptimizerOptions& options) : o_(options) {}

  double Apply(double p, double g, const Update& update) {
    g *= o_.gradient_scale;
    return o_.kind == Kind::kSgd ? Sgd(p, g, update) : Adam(p, g, update);
  }

 private:
  double Sgd(double p, double g, const Update& update) {
    if (o_.weight_decay != 0) g += o_.weight_decay * p;
    if (o_.momentum != 0) {
      buffer_ = update.number == 1 ? g : o_.momentum * buffer_ + g;
      g = o_.nesterov ? g + o_.momentum * buffer_ : buffer_;
    }
    return p - update.learning_rate * g;
  }

  double Adam(double p, double g, const Update& update) {
    if (o_.kind == Kind::kAdamW) p -= update.learning_rate * o_.weight_decay * p;
    if (o_.kind == Kind::kAdam) g += o_.weight_decay * p;
    m_ = o_.beta1 * m_ + (1 - o_.beta1) * g;
    v_ = o_.beta2 * v_ + (1 - o_.beta2) * g * g;
    const auto n = static_cast<double>(update.number);
    const double m_hat = m_ / (1 - std::pow(o_.beta1, n));
    const double v_hat = v_ / (1 - std::pow(o_.beta2, n));
    return p - update.learning_rate * m_hat / (std::sqrt(v_hat) + o_.epsilon);
  }

  OptimizerOptions o_;
  double buffer_ = 0;
  double m_ = 0;
  double v_ = 0;
};

std::vector<float> RandomFloats(std::mt19937& random, std::size_t size) {
  std::normal_distribution<float> normal;
  std::vector<float> values(size);
  for (float& value : values) value = normal(random);
  return values;
}

Update UpdateNumber(int number) { return {number, 0.1 / (1 + 0.05 * number)}; }

class OptimizerTest : public ::testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<Optimizer> Make(std::size_t size) {
    return Optimizer::Make(GetParam().options, size);
  }
};

TEST_P(OptimizerTest, FollowsTheReference) {
  constexpr std::size_t kSize = 37;
  std::mt19937 random(1);
  std::vector<float> params = RandomFloats(random, kSize);
  std::vector<double> expected(params.begin(), params.end());
  std::vector<Reference> references(kSize, Reference(GetParam().options));
  const auto optimizer = Make(kSize);
  for (int number = 1; number <= 50; ++number) {
    const std::vector<float> grads = RandomFloats(random, kSize);
    optimizer->Apply(0, params, grads, UpdateNumber(number));
    for (std::size_t i = 0; i < kSize; ++i) {
      expected[i] = references[i].Apply(expected[i], grads[i], UpdateNumber(number));
      ASSERT_NEAR(params[i], expected[i], 2e-5 * std::max(1.0, std::abs(expected[i])))
          << "parameter " << i << " after update " << number;
    }
  }
}

// Offsets and sizes are odd, so that each piece has another alignment.
TEST_P(OptimizerTest, CutsDoNotChangeABit) {
  constexpr std::size_t kSize = 1000;
  std::mt19937 random(2);
  std::vector<float> whole = RandomFloats(random, kSize);
  std::vector<float> cut = whole;
  const auto one = Make(kSize);
  const auto two = Make(kSize);
  for (int number = 1; number <= 5; ++number) {
    const std::vector<float> grads = RandomFloats(random, kSize);
    one->Apply(0, whole, grads, UpdateNumber(number));
    for (std::size_t begin = 0; begin < kSize;) {
      const std::size_t size = std::min<std::size_t>(1 + random() % 67, kSize - begin);
      two->Apply(begin, std::span(cut).subspan(begin, size), std::span(grads).subspan(begin, size),
                 UpdateNumber(number));
      begin += size;
    }
    ASSERT_TRUE(SameBits(whole, cut));
    ASSERT_TRUE(SameBits(one->state(), two->state()));
  }
}

TEST_P(OptimizerTest, SeparateOutputLeavesTheInputAlone) {
  constexpr std::size_t kSize = 77;
  std::mt19937 random(3);
  const std::vector<float> before = RandomFloats(random, kSize);
  const std::vector<float> grads = RandomFloats(random, kSize);
  std::vector<float> in_place = before;
  std::vector<float> in = before;
  std::vector<float> out(kSize, -1);
  Make(kSize)->Apply(0, in_place, grads, UpdateNumber(1));
  Make(kSize)->Apply(0, in, out, grads, UpdateNumber(1));
  EXPECT_TRUE(SameBits(in, before));
  EXPECT_TRUE(SameBits(out, in_place));
}

TEST_P(OptimizerTest, TouchesOnlyItsRange) {
  const auto optimizer = Make(30);
  std::vector<float> params(30, 1.0F);
  const std::vector<float> grads(7, 1.0F);
  optimizer->Apply(11, std::span(params).subspan(11, 7), grads, UpdateNumber(1));
  for (std::size_t i = 0; i < 30; ++i) {
    const bool inside = i >= 11 && i < 18;
    EXPECT_EQ(params[i] != 1.0F, inside) << i;
    for (int k = 0; k < optimizer->state_per_parameter(); ++k) {
      EXPECT_EQ(optimizer->state()[static_cast<std::size_t>(k) * 30 + i] != 0, inside) << i;
    }
  }
}

TEST_P(OptimizerTest, StateIsAllThereIsToResume) {
  constexpr std::size_t kSize = 50;
  std::mt19937 random(4);
  std::vector<float> params = RandomFloats(random, kSize);
  const auto first = Make(kSize);
  EXPECT_EQ(first->state_size(), kSize * static_cast<std::size_t>(first->state_per_parameter()));
  for (int number = 1; number <= 3; ++number) {
    first->Apply(0, params, RandomFloats(random, kSize), UpdateNumber(number));
  }
  const auto resumed = Make(kSize);
  std::vector<float> state(first->state_size());
  first->ReadState(state);
  resumed->LoadState(state);
  resumed->LoadState({});
  std::vector<float> resumed_params = params;
  const std::vector<float> grads = RandomFloats(random, kSize);
  first->Apply(0, params, grads, UpdateNumber(4));
  resumed->Apply(0, resumed_params, grads, UpdateNumber(4));
  EXPECT_TRUE(SameBits(params, resumed_params));
}

TEST_P(OptimizerTest, EmptySpansAndEmptyVectorsAreFine) {
  Make(0)->Apply(0, {}, {}, UpdateNumber(1));
  Make(5)->Apply(5, {}, {}, UpdateNumber(1));
}

TEST_P(OptimizerTest, SpansOutsideTheVectorAreRefused) {
  const auto optimizer = Make(10);
  std::vector<float> params(8);
  const std::vector<float> grads(8);
  EXPECT_THROW(optimizer->Apply(3, params, grads, UpdateNumber(1)), InternalError);
  EXPECT_THROW(optimizer->Apply(static_cast<std::size_t>(-4), params, grads, UpdateNumber(1)),
               InternalError);
  EXPECT_THROW(optimizer->Apply(0, params, std::span(grads).first(7), UpdateNumber(1)),
               InternalError);
}

INSTANTIATE_TEST_SUITE_P(Rules, OptimizerTest, ::testing::ValuesIn(Cases()), CaseName);

TEST(OptimizerOptionsTest, StatePerParameter) {
  const auto state = [](const OptimizerOptions& options) {
    return Optimizer::Make(options, 4)->state_per_parameter();
  };
  EXPECT_EQ(state({}), 0);
  EXPECT_EQ(state({.momentum = 0.9}), 1);
  EXPECT_EQ(state({.kind = Kind::kAdam}), 2);
}

TEST(OptimizerOptionsTest, NonsenseIsRefused) {
  const auto make = [](const OptimizerOptions& options) { Optimizer::Make(options, 4); };
  EXPECT_THROW(make({.momentum = -0.1}), ConfigError);
  EXPECT_THROW(make({.momentum = 1}), ConfigError);
  EXPECT_THROW(make({.nesterov = true}), ConfigError);
  EXPECT_THROW(make({.weight_decay = -1}), ConfigError);
  EXPECT_THROW(make({.weight_decay = std::nan("")}), ConfigError);
  EXPECT_THROW(make({.kind = Kind::kAdam, .beta1 = 1}), ConfigError);
  EXPECT_THROW(make({.kind = Kind::kAdam, .beta2 = -1}), ConfigError);
  EXPECT_THROW(make({.kind = Kind::kAdamW, .epsilon = -1}), ConfigError);
}

// Wherever the gradient is, its parameter and the state of that parameter stay as they were, and
// those far behind it too.
TEST(OptimizerOptionsTest, AGradientThatIsNotFiniteIsRefused) {
  constexpr std::size_t kSize = 40'000;
  constexpr std::size_t kBlock = 4096;
  const std::vector<OptimizerOptions> rules{{},
                                            {.momentum = 0.9},
                                            {.momentum = 0.9, .nesterov = true},
                                            {.kind = Kind::kAdam},
                                            {.kind = Kind::kAdamW}};
  for (const OptimizerOptions& rule : rules) {
    for (const float wrong : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
      for (const std::size_t at : {std::size_t{0}, std::size_t{20'000}, kSize - 1}) {
        std::vector<float> params(kSize, 1.0F);
        std::vector<float> grads(kSize, 0.5F);
        grads[at] = wrong;
        const auto optimizer = Optimizer::Make(rule, kSize + 5);
        try {
          optimizer->Apply(5, params, grads, {8, 0.1});
          FAIL() << "no error";
        } catch (const DivergedError& error) {
          EXPECT_EQ(error.problem(), "the gradient that update 8 applies to parameter " +
                                         std::to_string(at + 5) + " is " + std::to_string(wrong));
        }
        EXPECT_TRUE(std::ranges::all_of(params, [](float value) { return std::isfinite(value); }));
        EXPECT_EQ(params[at], 1.0F);
        EXPECT_TRUE(std::ranges::all_of(std::span(params).subspan(std::min(at + kBlock, kSize)),
                                        [](float value) { return value == 1.0F; }));
        EXPECT_TRUE(std::ranges::all_of(std::span(params).first(at),
                                        [](float value) { return value != 1.0F; }));
        const std::span<float> state = optimizer->state();
        EXPECT_TRUE(std::ranges::all_of(state, [](float value) { return std::isfinite(value); }));
        for (std::size_t vector = 0; vector < state.size(); vector += kSize + 5) {
          EXPECT_EQ(state[vector + at + 5], 0.0F);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ringside
