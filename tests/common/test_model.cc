#include "tests/common/test_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>

namespace ringside {

TestModel::TestModel(const TestModelOptions& options)
    : options_(options),
      tensors_{{"output.bias", options.classes},
               {"output.weight", options.classes * options.hidden},
               {"hidden.bias", options.hidden},
               {"hidden.weight", options.hidden * options.inputs}},
      buffers_(options.running_mean ? options.inputs : 0, 0.0F) {}

void TestModel::Bind(FlatSpace& space, const BucketPlan& plan) {
  space_ = &space;
  plan_ = &plan;
  tracker_.emplace(space, plan);
  std::mt19937 random(static_cast<std::mt19937::result_type>(options_.seed));
  for (float& value : space.params()) {
    const auto integer = static_cast<float>(random() % 7) - 3.0F;
    value = options_.integer_gradients ? integer : 0.1F * integer;
  }
}

std::span<float> TestModel::Params(Tensor tensor) const {
  const BucketPlan::Range& range = plan_->tensor_range(tensor);
  return space_->params().subspan(range.begin, range.size());
}

std::span<float> TestModel::Grads(Tensor tensor) const {
  const BucketPlan::Range& range = plan_->tensor_range(tensor);
  return space_->grads().subspan(range.begin, range.size());
}

double TestModel::ForwardBackward(const Batch& batch, Strategy& strategy) {
  tracker_->BeginStep(batch.step, strategy);
  tracker_->AwaitTensor(kHiddenWeight);
  tracker_->AwaitTensor(kHiddenBias);
  ForwardHidden(batch);
  tracker_->AwaitTensor(kOutputWeight);
  tracker_->AwaitTensor(kOutputBias);
  ForwardOutput(batch);
  tracker_->AwaitAll();  // a strategy may own a bucket's gradient until it has been awaited
  const double loss = LossAndDelta(batch);
  UpdateRunningMean(batch);
  if (options_.integer_gradients) {
    for (const Tensor tensor : {kOutputBias, kOutputWeight, kHiddenBias, kHiddenWeight}) {
      IntegerGradient(batch, tensor);
      tracker_->TensorReady(tensor);
    }
    return loss;
  }
  BackwardOutput(batch);
  BackwardHidden(batch);
  return loss;
}

Evaluation TestModel::Evaluate(const Batch& batch) {
  ForwardHidden(batch);
  ForwardOutput(batch);
  Evaluation evaluation;
  std::int64_t correct = 0;
  for (std::size_t s = 0; s < batch.samples; ++s) {
    const auto logits = std::span(output_).subspan(s * options_.classes, options_.classes);
    const auto best = std::ranges::max_element(logits) - logits.begin();
    correct += best == batch.labels[s] ? 1 : 0;
  }
  evaluation.correct = correct;
  evaluation.loss_sum = LossAndDelta(batch);
  evaluation.samples = static_cast<std::int64_t>(batch.samples);
  return evaluation;
}

void TestModel::ForwardHidden(const Batch& batch) {
  const auto weight = Params(kHiddenWeight);
  const auto bias = Params(kHiddenBias);
  hidden_.resize(batch.samples * options_.hidden);
  for (std::size_t s = 0; s < batch.samples; ++s) {
    for (std::size_t h = 0; h < options_.hidden; ++h) {
      float sum = bias[h];
      for (std::size_t i = 0; i < options_.inputs; ++i) {
        sum += weight[h * options_.inputs + i] * batch.inputs[s * options_.inputs + i];
      }
      hidden_[s * options_.hidden + h] = std::tanh(sum);
    }
  }
}

void TestModel::ForwardOutput(const Batch& batch) {
  const auto weight = Params(kOutputWeight);
  const auto bias = Params(kOutputBias);
  output_.resize(batch.samples * options_.classes);
  for (std::size_t s = 0; s < batch.samples; ++s) {
    for (std::size_t c = 0; c < options_.classes; ++c) {
      float sum = bias[c];
      for (std::size_t h = 0; h < options_.hidden; ++h) {
        sum += weight[c * options_.hidden + h] * hidden_[s * options_.hidden + h];
      }
      output_[s * options_.classes + c] = sum;
    }
  }
}

// Replaces the logits by gradient_scale x (softmax - one-hot).
double TestModel::LossAndDelta(const Batch& batch) {
  double loss = 0;
  for (std::size_t s = 0; s < batch.samples; ++s) {
    const auto values = std::span(output_).subspan(s * options_.classes, options_.classes);
    const float highest = *std::ranges::max_element(values);
    double total = 0;
    for (const float value : values) total += std::exp(static_cast<double>(value - highest));
    const auto label = static_cast<std::size_t>(batch.labels[s]);
    loss += std::log(total) - static_cast<double>(values[label] - highest);
    for (std::size_t c = 0; c < values.size(); ++c) {
      const double softmax = std::exp(static_cast<double>(values[c] - highest)) / total;
      values[c] = batch.gradient_scale * static_cast<float>(softmax - (c == label ? 1 : 0));
    }
  }
  return loss;
}

void TestModel::BackwardOutput(const Batch& batch) {
  const auto bias = Grads(kOutputBias);
  const auto weight = Grads(kOutputWeight);
  std::ranges::fill(bias, 0.0F);
  std::ranges::fill(weight, 0.0F);
  for (std::size_t s = 0; s < batch.samples; ++s) {
    for (std::size_t c = 0; c < options_.classes; ++c) {
      const float delta = output_[s * options_.classes + c];
      bias[c] += delta;
      for (std::size_t h = 0; h < options_.hidden; ++h) {
        weight[c * options_.hidden + h] += delta * hidden_[s * options_.hidden + h];
      }
    }
  }
  // The derivative of the hidden layer needs the output weight. So the output weight is submitted
  // afterwards: a submitted tensor belongs to the strategy and must not be read.
  const auto values = Params(kOutputWeight);
  for (std::size_t s = 0; s < batch.samples; ++s) {
    for (std::size_t h = 0; h < options_.hidden; ++h) {
      float& hidden = hidden_[s * options_.hidden + h];
      float sum = 0;
      for (std::size_t c = 0; c < options_.classes; ++c) {
        sum += output_[s * options_.classes + c] * values[c * options_.hidden + h];
      }
      hidden = sum * (1 - hidden * hidden);
    }
  }
  tracker_->TensorReady(kOutputBias);
  tracker_->TensorReady(kOutputWeight);
}

void TestModel::BackwardHidden(const Batch& batch) {
  const auto bias = Grads(kHiddenBias);
  const auto weight = Grads(kHiddenWeight);
  std::ranges::fill(bias, 0.0F);
  std::ranges::fill(weight, 0.0F);
  for (std::size_t s = 0; s < batch.samples; ++s) {
    for (std::size_t h = 0; h < options_.hidden; ++h) {
      const float delta = hidden_[s * options_.hidden + h];
      bias[h] += delta;
      for (std::size_t i = 0; i < options_.inputs; ++i) {
        weight[h * options_.inputs + i] += delta * batch.inputs[s * options_.inputs + i];
      }
    }
  }
  tracker_->TensorReady(kHiddenBias);
  tracker_->TensorReady(kHiddenWeight);
}

// Between -2 and 2 for each sample.
void TestModel::IntegerGradient(const Batch& batch, Tensor tensor) {
  const auto grads = Grads(tensor);
  for (std::size_t i = 0; i < grads.size(); ++i) {
    std::int64_t sum = 0;
    for (std::size_t s = 0; s < batch.samples; ++s) {
      sum += (static_cast<std::int64_t>(i) + 3 * batch.labels[s] + tensor) % 5 - 2;
    }
    grads[i] = batch.gradient_scale * static_cast<float>(sum);
  }
}

void TestModel::UpdateRunningMean(const Batch& batch) {
  if (batch.samples == 0) return;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    float sum = 0;
    for (std::size_t s = 0; s < batch.samples; ++s) sum += batch.inputs[s * options_.inputs + i];
    buffers_[i] = 0.5F * buffers_[i] + 0.5F * sum / static_cast<float>(batch.samples);
  }
}

}  // namespace ringside
