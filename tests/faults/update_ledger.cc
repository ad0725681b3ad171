#include "tests/experiments/job/launcher/update_ledger.h"

#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "ringside/common/training/bucket_tracker.h"
#include "ringside/common/training/model.h"
#include "ringside/experiments/spec/catalog.h"

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

/// Kills this process if the variable asks for it in this phase of this step.
void StrikeIn(std::string_view phase, std::int64_t step) {
  const char* text = std::getenv("RINGSIDE_LEDGER_FAULT");
  if (text == nullptr) return;
  std::string wanted_phase, path;
  std::int64_t wanted_step = -1;
  std::istringstream(text) >> wanted_phase >> wanted_step >> path;
  if (wanted_phase != phase || wanted_step != step) return;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return;  // another worker was struck, or this one in an earlier generation
  ::raise(SIGKILL);
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
    tracker_->BeginStep(batch.step, strategy);
    tracker_->AwaitAll();
    StrikeIn("awaited", batch.step);
    const auto weight = static_cast<float>(std::pow(kBase, batch.epoch)) * batch.gradient_scale;
    for (int tensor = 0; tensor < kLedgerTensors; ++tensor) {
      const std::span<float> grads = space_->grads().subspan(
          static_cast<std::size_t>(tensor) * kLedgerSamples, kLedgerSamples);
      std::ranges::fill(grads, 0.0F);
      for (const float sample : batch.inputs) grads[static_cast<std::size_t>(sample)] += weight;
      tracker_->TensorReady(tensor);
      if (tensor == 0) StrikeIn("submitted-0", batch.step);
    }
    StrikeIn("submitted", batch.step);
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
