// Real training in one process: model, data, trainer and optimizer together.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ringside/common/strategy/none_strategy.h"
#include "ringside/common/training/trainer.h"
#include "ringside/models/tables/dataset_table.h"
#include "ringside/models/torch/torch_model_table.h"
#include "tests/models/recording_strategy.h"

namespace ringside {
namespace {

class Progress : public TrainerObserver {
 public:
  void Evaluated(const EvaluationRecord& record) override { evaluations.push_back(record); }
  std::vector<EvaluationRecord> evaluations;
};

struct Outcome {
  EvaluationRecord last;
  std::vector<float> params;
};

std::unique_ptr<Model> MakeModel(std::string_view name, const ModelOptions& options) {
  return std::ranges::find(TorchModelTable(), name, &ModelEntry::name)->make(options);
}

Outcome TrainOnDigits(std::string_view name, const std::vector<int>& widths, std::int64_t steps) {
  const std::unique_ptr<Dataset> digits = DatasetTable().front().make({});
  const std::unique_ptr<Model> model =
      MakeModel(name, {.input = digits->shape(), .seed = 1, .widths = widths});
  const BucketPlan plan(model->Tensors(), {});
  FlatSpace space(plan.elements());
  model->Bind(space, plan);
  OptimizerOptions sgd;
  sgd.momentum = 0.9;
  const auto optimizer = Optimizer::Make(sgd, plan.elements());
  const Schedule schedule(ScheduleOptions{.base = 0.05});
  const World world;
  const CommOptions comm;
  InProcessStore store;
  Recorder recorder(static_cast<std::size_t>(steps));
  Timeline timeline;
  NoneStrategy strategy({world, store, comm, *optimizer, schedule, recorder, timeline});
  Progress progress;
  TrainerOptions options;
  options.end_step = steps;
  options.global_batch = 64;
  const TrainerParts parts{world,   *model, strategy, space,    plan,
                           *digits, store,  recorder, timeline, progress};
  const TrainerResult result = Train(parts, options);
  EXPECT_TRUE(result.completed);
  EXPECT_EQ(recorder.steps().size(), static_cast<std::size_t>(steps));
  return {progress.evaluations.back(), {space.params().begin(), space.params().end()}};
}

TEST(TorchTraining, MlpLearnsDigits) {
  EXPECT_GE(TrainOnDigits("mlp", {64, 64}, 230).last.accuracy, 0.95);  // ten epochs
}

TEST(TorchTraining, CnnLearnsDigits) {
  EXPECT_GE(TrainOnDigits("cnn", {}, 92).last.accuracy, 0.95);
}

// An epoch takes too long here: it learns one batch by heart, then the running statistics catch up
// with the parameters, so that evaluation sees it.
TEST(TorchTraining, ResNet18LearnsABatchByHeart) {
  const std::unique_ptr<Dataset> digits = DatasetTable().front().make({});
  constexpr std::size_t kSamples = 16;
  std::vector<float> inputs(kSamples * 64);
  std::vector<std::int64_t> labels(kSamples);
  for (std::size_t i = 0; i < kSamples; ++i)
    labels[i] = digits->Read(Split::kTrain, i, std::span(inputs).subspan(i * 64, 64));
  const Batch batch{.samples = kSamples,
                    .global_samples = kSamples,
                    .gradient_scale = 1.0F / kSamples,
                    .inputs = inputs,
                    .labels = labels};
  const std::unique_ptr<Model> model = MakeModel("resnet18", {.input = digits->shape()});
  const BucketPlan plan(model->Tensors(), {});
  FlatSpace space(plan.elements());
  model->Bind(space, plan);
  float rate = 0.02F;
  RecordingStrategy strategy;
  strategy.on_submit = [&](const Bucket& bucket) {
    for (std::size_t i = 0; i < bucket.params.size(); ++i)
      bucket.params[i] -= rate * bucket.grads[i];
  };
  EXPECT_LT(model->Evaluate(batch).correct, 8);
  for (int step = 0; step < 15; ++step) model->ForwardBackward(batch, strategy);
  rate = 0;
  for (int step = 0; step < 25; ++step) model->ForwardBackward(batch, strategy);
  EXPECT_EQ(model->Evaluate(batch).correct, static_cast<std::int64_t>(kSamples));
}

TEST(TorchTraining, IsBitwiseRepeatable) {
  EXPECT_EQ(TrainOnDigits("mlp", {32, 32}, 30).params, TrainOnDigits("mlp", {32, 32}, 30).params);
  EXPECT_EQ(TrainOnDigits("cnn", {}, 5).params, TrainOnDigits("cnn", {}, 5).params);
}

}  // namespace
}  // namespace ringside
