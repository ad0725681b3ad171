// A model of its own: one linear layer with a softmax.
#ifndef RINGSIDE_CONSUMER_OWN_MODEL_H_
#define RINGSIDE_CONSUMER_OWN_MODEL_H_

#include <ringside/common/training/bucket_tracker.h>
#include <ringside/models/core/model_entry.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

class LinearModel : public ringside::Model {
 public:
  explicit LinearModel(const ringside::ModelOptions& options)
      : inputs_(options.input.elements()),
        classes_(static_cast<std::size_t>(options.classes)),
        tensors_{{"weight", classes_ * inputs_}},
        logits_(classes_) {}

  std::span<const ringside::TensorSpec> Tensors() const override { return tensors_; }
  void Bind(ringside::FlatSpace& space, const ringside::BucketPlan& plan) override {
    space_ = &space;
    tracker_.emplace(space, plan);
    std::ranges::fill(space.params(), 0.0F);
  }
  double ForwardBackward(const ringside::Batch& batch, ringside::Strategy& strategy) override {
    tracker_->BeginStep(batch.step, strategy);
    tracker_->AwaitAll();
    std::ranges::fill(space_->grads(), 0.0F);
    double loss = 0;
    for (std::size_t s = 0; s < batch.samples; ++s) {
      const auto x = batch.inputs.subspan(s * inputs_, inputs_);
      loss += Probabilities(x, batch.labels[s]);
      logits_[static_cast<std::size_t>(batch.labels[s])] -= 1;
      for (std::size_t i = 0; i < classes_ * inputs_; ++i) {
        space_->grads()[i] += batch.gradient_scale * logits_[i / inputs_] * x[i % inputs_];
      }
    }
    tracker_->TensorReady(0);
    return loss;
  }
  ringside::Evaluation Evaluate(const ringside::Batch& batch) override {
    ringside::Evaluation result;
    std::int64_t correct = 0;
    for (std::size_t s = 0; s < batch.samples; ++s) {
      result.loss_sum += Probabilities(batch.inputs.subspan(s * inputs_, inputs_), batch.labels[s]);
      const auto best = std::ranges::max_element(logits_) - logits_.begin();
      correct += best == batch.labels[s] ? 1 : 0;
    }
    result.correct = correct;
    result.samples = static_cast<std::int64_t>(batch.samples);
    return result;
  }

 private:
  /// Into `logits_`; returns the loss.
  double Probabilities(std::span<const float> x, std::int64_t label) {
    float sum = 0;
    for (std::size_t c = 0; c < classes_; ++c) {
      float logit = 0;
      for (std::size_t i = 0; i < inputs_; ++i) logit += space_->params()[c * inputs_ + i] * x[i];
      logits_[c] = std::exp(logit);
      sum += logits_[c];
    }
    for (float& value : logits_) value /= sum;
    return -std::log(logits_[static_cast<std::size_t>(label)]);
  }

  std::size_t inputs_;
  std::size_t classes_;
  std::vector<ringside::TensorSpec> tensors_;
  std::vector<float> logits_;
  ringside::FlatSpace* space_ = nullptr;
  std::optional<ringside::BucketTracker> tracker_;
};

inline ringside::ModelEntry OwnModel() {
  ringside::ModelEntry entry;
  entry.name = "own-model";
  entry.summary = "one linear layer with a softmax";
  entry.make = [](const ringside::ModelOptions& options) -> std::unique_ptr<ringside::Model> {
    return std::make_unique<LinearModel>(options);
  };
  entry.tensors = [](const ringside::ModelOptions& options) {
    const auto tensors = LinearModel(options).Tensors();
    return std::vector<ringside::TensorSpec>{{"weight", tensors.front().elements}};
  };
  return entry;
}

#endif  // RINGSIDE_CONSUMER_OWN_MODEL_H_
