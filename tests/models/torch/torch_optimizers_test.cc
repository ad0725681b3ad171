// The optimizers of common/optim against torch::optim, over steps with changing gradients.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/base/splitmix64.h"
#include "ringside/common/optim/optimizer.h"

namespace ringside {
namespace {

constexpr std::size_t kElements = 1003;  // no multiple of a vector register
constexpr int kSteps = 25;
constexpr double kRate = 0.05;

using MakeTorch = std::function<std::unique_ptr<torch::optim::Optimizer>(torch::Tensor)>;

struct Case {
  const char* name;
  OptimizerOptions options;
  MakeTorch make;
};

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }

MakeTorch Sgd(torch::optim::SGDOptions options) {
  return [=](torch::Tensor parameter) {
    return std::make_unique<torch::optim::SGD>(std::vector{parameter}, options);
  };
}

MakeTorch Adam(torch::optim::AdamOptions options) {
  return [=](torch::Tensor parameter) {
    return std::make_unique<torch::optim::Adam>(std::vector{parameter}, options);
  };
}

MakeTorch AdamW(torch::optim::AdamWOptions options) {
  return [=](torch::Tensor parameter) {
    return std::make_unique<torch::optim::AdamW>(std::vector{parameter}, options);
  };
}

std::vector<float> RandomValues(SplitMix64& random) {
  std::vector<float> values(kElements);
  for (float& value : values) value = static_cast<float>(random.Below(2001)) / 1000.0F - 1.0F;
  return values;
}

class OptimizerBesideTorch : public testing::TestWithParam<Case> {};

TEST_P(OptimizerBesideTorch, FollowsTheSamePath) {
  SplitMix64 random(11);
  std::vector<float> ours = RandomValues(random);
  torch::Tensor theirs = torch::tensor(ours).requires_grad_(true);
  const auto optimizer = Optimizer::Make(GetParam().options, kElements);
  const auto torch_optimizer = GetParam().make(theirs);
  for (int step = 1; step <= kSteps; ++step) {
    const std::vector<float> gradient = RandomValues(random);
    theirs.mutable_grad() = torch::tensor(gradient);
    torch_optimizer->step();
    optimizer->Apply(0, std::span(ours), gradient, {step, kRate});
    const float* values = theirs.data_ptr<float>();
    for (std::size_t i = 0; i < kElements; ++i)
      ASSERT_NEAR(ours[i], values[i], 2e-6) << "step " << step << ", element " << i;
  }
}

OptimizerOptions With(OptimizerOptions::Kind kind, double momentum, bool nesterov, double decay) {
  OptimizerOptions options;
  options.kind = kind;
  options.momentum = momentum;
  options.nesterov = nesterov;
  options.weight_decay = decay;
  return options;
}

using Kind = OptimizerOptions::Kind;
using torch::optim::AdamOptions;
using torch::optim::AdamWOptions;
using torch::optim::SGDOptions;

INSTANTIATE_TEST_SUITE_P(
    All, OptimizerBesideTorch,
    testing::Values(
        Case{"sgd", With(Kind::kSgd, 0, false, 0), Sgd(SGDOptions(kRate))},
        Case{"sgd_decay", With(Kind::kSgd, 0, false, 0.1),
             Sgd(SGDOptions(kRate).weight_decay(0.1))},
        Case{"momentum", With(Kind::kSgd, 0.9, false, 0), Sgd(SGDOptions(kRate).momentum(0.9))},
        Case{"momentum_decay", With(Kind::kSgd, 0.9, false, 0.1),
             Sgd(SGDOptions(kRate).momentum(0.9).weight_decay(0.1))},
        Case{"nesterov", With(Kind::kSgd, 0.9, true, 0.1),
             Sgd(SGDOptions(kRate).momentum(0.9).nesterov(true).weight_decay(0.1))},
        Case{"adam", With(Kind::kAdam, 0, false, 0), Adam(AdamOptions(kRate).weight_decay(0))},
        Case{"adam_decay", With(Kind::kAdam, 0, false, 0.1),
             Adam(AdamOptions(kRate).weight_decay(0.1))},
        Case{"adamw", With(Kind::kAdamW, 0, false, 0), AdamW(AdamWOptions(kRate).weight_decay(0))},
        Case{"adamw_decay", With(Kind::kAdamW, 0, false, 0.1),
             AdamW(AdamWOptions(kRate).weight_decay(0.1))}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace ringside
