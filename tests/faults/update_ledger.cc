#include "tests/faults/update_ledger.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "ringside/common/training/bucket_tracker.h"
#include "ringside/common/training/model.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/resolve/resolve.h"

namespace ringside {
namespace {

constexpr double kBase = 4;

/// The sample with an index holds the index.
class LedgerDataset : public Dataset {
 public:
  SampleShape shape() const override { return {1, 1, 1}; }
  int classes() const override { return 1; }
  std::size_t size(Split split) const override {
    return split == Split::kTrain ? kLedgerSamples : 1;
  }
  std::int64_t Read(Split /*split*/, std::size_t index, std::span<float> out) const override {
    out[0] = static_cast<float>(index);
    return 0;
  }
};

std::vector<TensorSpec> LedgerTensors() {
  std::vector<TensorSpec> tensors;
  for (int i = 0; i < kLedgerTensors; ++i) {
    tensors.push_back({"tensor" + std::to_string(i), kLedgerSamples});
  }
  return tensors;
}

std::chrono::milliseconds Milliseconds(const char* variable) {
  const char* text = std::getenv(variable);
  return std::chrono::milliseconds(text == nullptr ? 0 : std::atoi(text));
}

std::chrono::nanoseconds ProcessorTimeOfThread() {
  timespec time{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) {
    throw std::runtime_error("a thread has no clock of its own");
  }
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// What a step does besides counting.
void Compute() {
  const std::chrono::nanoseconds end =
      ProcessorTimeOfThread() + Milliseconds("RINGSIDE_LEDGER_BUSY_MS");
  while (ProcessorTimeOfThread() < end) {
  }
  std::this_thread::sleep_for(Milliseconds("RINGSIDE_LEDGER_STEP_MS"));
}

class LedgerModel : public Model {
 public:
  std::span<const TensorSpec> Tensors() const override { return tensors_; }

  void Bind(FlatSpace& space, const BucketPlan& plan) override {
    space_ = &space;
    tracker_.emplace(space, plan);
    std::ranges::fill(space.params(), 0.0F);
  }

  double ForwardBackward(const Batch& batch, Strategy& strategy) override {
    Compute();
    tracker_->BeginStep(batch.step, strategy);
    tracker_->AwaitAll();
    const auto weight = static_cast<float>(std::pow(kBase, batch.epoch)) * batch.gradient_scale;
    for (int tensor = 0; tensor < kLedgerTensors; ++tensor) {
      const std::span<float> grads = space_->grads().subspan(
          static_cast<std::size_t>(tensor) * kLedgerSamples, kLedgerSamples);
      std::ranges::fill(grads, 0.0F);
      for (const float sample : batch.inputs) grads[static_cast<std::size_t>(sample)] += weight;
      tracker_->TensorReady(tensor);
    }
    return static_cast<double>(batch.samples);
  }

  Evaluation Evaluate(const Batch& batch) override {
    return {.loss_sum = static_cast<double>(batch.samples),
            .samples = static_cast<std::int64_t>(batch.samples)};
  }

 private:
  const std::vector<TensorSpec> tensors_ = LedgerTensors();
  FlatSpace* space_ = nullptr;
  std::optional<BucketTracker> tracker_;
};

const Catalog& LedgerCatalog() {
  static const Catalog catalog(LedgerExtensions());
  return catalog;
}

}  // namespace

Extensions LedgerExtensions() {
  ModelEntry model;
  model.name = "ledger";
  model.summary = "counts the updates of every sample";
  model.make = [](const ModelOptions&) -> std::unique_ptr<Model> {
    return std::make_unique<LedgerModel>();
  };
  model.tensors = [](const ModelOptions&) { return LedgerTensors(); };
  DatasetEntry data;
  data.name = "ledger";
  data.summary = "numbers";
  data.shape = {1, 1, 1};
  data.classes = 1;
  data.train_samples = kLedgerSamples;
  data.make = [](const DatasetOptions&) -> std::unique_ptr<Dataset> {
    return std::make_unique<LedgerDataset>();
  };
  return {.models = {model}, .datasets = {data}};
}

RunSpec LedgerSpec(const std::string& strategy, int workers, std::int64_t epochs) {
  RunSpec spec(LedgerCatalog());
  spec.strategy = strategy;
  spec.workers = workers;
  spec.model = "ledger";
  spec.data = "ledger";
  spec.epochs = epochs;
  spec.global_batch = kLedgerBatch;
  spec.learning_rate = kLedgerBatch;
  spec.optimizer.momentum = 0;
  spec.bucket_bytes = 0;
  spec.save_params = true;
  if (spec.catalog().FindStrategy(strategy)->traits.has_servers()) {
    spec.servers = kLedgerTensors - 1;
  }
  return Resolve(std::move(spec));
}

int TimesApplied(std::span<const float> params, int tensor, std::size_t sample,
                 std::int64_t epoch) {
  const std::size_t element = static_cast<std::size_t>(tensor) * kLedgerSamples + sample;
  const double count = -static_cast<double>(params[element]);
  if (count < 0 || count != std::floor(count) || count >= std::pow(kBase, kLedgerMaxEpochs)) {
    throw std::runtime_error("element " + std::to_string(element) + " is " +
                             std::to_string(params[element]) + ", which no updates make");
  }
  return static_cast<int>(
      std::fmod(std::floor(count / std::pow(kBase, static_cast<double>(epoch))), kBase));
}

}  // namespace ringside
