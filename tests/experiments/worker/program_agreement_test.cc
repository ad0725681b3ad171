#include "ringside/experiments/worker/program_agreement.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using Kind = OptimizerOptions::Kind;

ModelUpdate UpdateOf(const OptimizerOptions& optimizer, double learning_rate = 0.1) {
  return {.optimizer = optimizer, .rates = std::make_shared<GivenRates>(learning_rate)};
}

/// What the second worker is told.
std::string Refusal(const ModelUpdate& first, int first_rank, const ModelUpdate& second,
                    int second_rank) {
  InProcessStore store;
  AgreeOnUpdate(store, first_rank, first);
  try {
    AgreeOnUpdate(store, second_rank, second);
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    const std::string begin = "the programs of two workers have different optimizers: ";
    EXPECT_TRUE(message.starts_with(begin)) << message;
    return message.substr(begin.size());
  }
  return "agreed";
}

std::string Refusal(const ModelUpdate& first, const ModelUpdate& second) {
  return Refusal(first, 0, second, 1);
}

TEST(AgreeOnUpdate, TakesEqualOnes) {
  EXPECT_EQ(Refusal(UpdateOf({.momentum = 0.9}), UpdateOf({.momentum = 0.9})), "agreed");
  EXPECT_EQ(Refusal({.by_model = true}, {.by_model = true}), "agreed");
}

TEST(AgreeOnUpdate, NamesOnlyWhatDiffers) {
  EXPECT_EQ(Refusal(UpdateOf({.momentum = 0.9}), UpdateOf({.kind = Kind::kAdam}, 0.001)),
            "SGD in worker 0, Adam in worker 1");
  EXPECT_EQ(Refusal(UpdateOf({.kind = Kind::kAdam}), UpdateOf({.kind = Kind::kAdamW})),
            "Adam in worker 0, AdamW in worker 1");
  EXPECT_EQ(Refusal(UpdateOf({}, 0.1), UpdateOf({}, 0.2)), "lr 0.1 in worker 0, 0.2 in worker 1");
  EXPECT_EQ(Refusal(UpdateOf({.momentum = 0.9, .weight_decay = 0.01}),
                    UpdateOf({.momentum = 0.8, .nesterov = true, .weight_decay = 0.01})),
            "momentum 0.9 in worker 0, 0.8 in worker 1; "
            "nesterov false in worker 0, true in worker 1");
  EXPECT_EQ(Refusal(UpdateOf({}), {.by_model = true}),
            "update=strategy in worker 0, update=program in worker 1");
}

TEST(AgreeOnUpdate, NamesTheLowerWorkerFirst) {
  EXPECT_EQ(Refusal(UpdateOf({}, 0.1), 3, UpdateOf({}, 0.2), 1),
            "lr 0.2 in worker 1, 0.1 in worker 3");
}

TEST(WaitForUpdate, IsTheOneThatTheWorkersAgreedOn) {
  InProcessStore store;
  AgreeOnUpdate(store, 0, UpdateOf({.kind = Kind::kAdamW, .beta1 = 0.8}, 0.25));
  const AgreedUpdate agreed = WaitForUpdate(store, Deadline::After(std::chrono::seconds(5)));
  EXPECT_EQ(agreed.optimizer.kind, Kind::kAdamW);
  EXPECT_EQ(agreed.optimizer.beta1, 0.8);
  EXPECT_EQ(agreed.learning_rate, 0.25);
}

}  // namespace
}  // namespace ringside
