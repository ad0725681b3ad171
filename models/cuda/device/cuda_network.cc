#include "ringside/models/cuda/device/cuda_network.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "ringside/common/base/errors.h"
#include "ringside/models/networks/initial_values.h"

namespace ringside {
CudaNetwork::CudaNetwork(const Network& network, const ModelOptions& options)
    : options_(options),
      device_(options.local_rank),
      tensors_(TensorsOf(network)),
      math_(stream_.get()),
      sums_here_(1),
      sums_(1) {
  int tensor = static_cast<int>(tensors_.size());
  for (const LayerSpec& spec : network.layers) {
    if (const auto* linear = std::get_if<LinearSpec>(&spec.kind)) {
      auto layer = std::make_unique<Layer>();
      layer->name = linear->name;
      layer->inputs = linear->inputs;
      layer->outputs = linear->outputs;
      // The forward pass reads the bias first, and the flat order is the reverse of its.
      layer->bias_tensor = --tensor;
      layer->weight_tensor = --tensor;
      layers_.push_back(std::move(layer));
    } else if (std::holds_alternative<ReluSpec>(spec.kind) && !layers_.empty()) {
      layers_.back()->relu = true;
    } else if (!std::holds_alternative<FlattenSpec>(spec.kind)) {
      throw ConfigError("a cuda: model computes linear layers and ReLU, and no other layer");
    }
  }
}

CudaNetwork::~CudaNetwork() { CudaNetwork::LetGoOfSpace(); }

// What is freed must not be in use: a step that failed may be under way. Nobody could do anything
// about an error.
void CudaNetwork::LetGoOfSpace() {
  cudaStreamSynchronize(stream_.get());
  vectors_.reset();
}

std::string CudaNetwork::device_id() const { return device_.id(); }

void CudaNetwork::Bind(FlatSpace& space, const BucketPlan& plan) {
  device_.MakeCurrent();
  space_ = &space;
  plan_ = &plan;
  tracker_.emplace(space, plan);
  vectors_ = std::make_unique<CudaVectors>(space, device_);
  vectors_->Prepare(plan);
  InitialGenerator generator = MakeInitialGenerator(options_.seed);
  for (const auto& layer : layers_) {
    for (const int tensor : {layer->bias_tensor, layer->weight_tensor}) {
      const BucketPlan::Range& range = plan.tensor_range(tensor);
      (tensor == layer->bias_tensor ? layer->bias : layer->weight) = range.begin;
      FillUniform(space.params().subspan(range.begin, range.size()), DefaultBound(layer->inputs),
                  generator);
    }
  }
  last_tensor_.assign(static_cast<std::size_t>(plan.buckets()), 0);
  for (int tensor = 0; tensor < plan.tensors(); ++tensor) {
    for (int bucket = plan.first_bucket(tensor); bucket <= plan.last_bucket(tensor); ++bucket) {
      last_tensor_[static_cast<std::size_t>(bucket)] = tensor;
    }
  }
}

void CudaNetwork::MakeRoom(std::size_t samples) {
  if (samples <= room_) return;
  room_ = samples;
  inputs_here_.Resize(samples * layers_.front()->inputs);
  inputs_.Resize(samples * layers_.front()->inputs);
  labels_here_.Resize(samples);
  labels_.Resize(samples);
  losses_.Resize(samples);
  hits_.Resize(samples);
  ones_.Resize(samples);
  math_.Fill(ones_.data(), samples, 1);
  std::size_t widest = 0;
  for (const auto& layer : layers_) {
    layer->output.Resize(samples * layer->outputs);
    widest = std::max(widest, layer->outputs);
  }
  gradient_.Resize(samples * widest);
  next_gradient_.Resize(samples * widest);
}

void CudaNetwork::Upload(const Batch& batch) {
  MakeRoom(batch.samples);
  // The copies of the step before are done: it has waited for what came after them.
  std::ranges::copy(batch.inputs, inputs_here_.data());
  std::ranges::copy(batch.labels, labels_here_.data());
  EnqueueToDevice(inputs_.data(), inputs_here_.data(), batch.inputs.size(), stream_);
  EnqueueToDevice(labels_.data(), labels_here_.data(), batch.labels.size(), stream_);
}

const float* CudaNetwork::InputOf(std::size_t layer) const {
  return layer == 0 ? inputs_.data() : layers_[layer - 1]->output.data();
}

DeviceMath::Shape CudaNetwork::ShapeOf(const Layer& layer, std::size_t samples) const {
  return {.samples = samples, .inputs = layer.inputs, .outputs = layer.outputs};
}

void CudaNetwork::Forward(std::size_t samples, bool training) {
  const float* params = vectors_->params().data();
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = *layers_[i];
    if (training) {
      tracker_->AwaitTensor(layer.bias_tensor);
      tracker_->AwaitTensor(layer.weight_tensor);
    }
    math_.Linear(ShapeOf(layer, samples), InputOf(i), params + layer.weight, params + layer.bias,
                 layer.output.data(), layer.relu);
  }
}

void CudaNetwork::Backward(std::size_t samples) {
  const float* params = vectors_->params().data();
  float* grads = vectors_->grads().data();
  float* gradient = gradient_.data();
  float* next = next_gradient_.data();
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = *layers_[i];
    const DeviceMath::Shape shape = ShapeOf(layer, samples);
    math_.LinearGradients(shape, InputOf(i), gradient, ones_.data(), grads + layer.weight,
                          grads + layer.bias);
    // The bucket leaves while the next product still reads its weights: only the update waits.
    FinishTensor(layer.weight_tensor);
    FinishTensor(layer.bias_tensor);
    if (i == 0) break;
    math_.LinearInputGradient(shape, gradient, params + layer.weight, InputOf(i), next,
                              layers_[i - 1]->relu);
    for (int bucket = plan_->first_bucket(layer.weight_tensor);
         bucket <= plan_->last_bucket(layer.bias_tensor); ++bucket) {
      vectors_->ParamsRead(bucket, stream_);
    }
    std::swap(gradient, next);
  }
}

void CudaNetwork::FinishTensor(int tensor) {
  for (int bucket = plan_->first_bucket(tensor); bucket <= plan_->last_bucket(tensor); ++bucket) {
    if (last_tensor_[static_cast<std::size_t>(bucket)] != tensor) continue;
    vectors_->GradientWritten(bucket, plan_->range(bucket), stream_, math_);
  }
}

double CudaNetwork::ForwardBackward(const Batch& batch, Strategy& strategy) {
  device_.MakeCurrent();
  tracker_->BeginStep(batch.step, strategy);
  forward_end_.reset();
  if (batch.samples == 0) return ContributeNothing();
  Upload(batch);
  Forward(batch.samples, /*training=*/true);
  math_.CrossEntropy(batch.samples, layers_.back()->outputs, layers_.back()->output.data(),
                     labels_.data(), batch.gradient_scale, losses_.data(), nullptr,
                     gradient_.data());
  math_.Sum(batch.samples, losses_.data(), nullptr, &sums_.data()->loss, nullptr);
  EnqueueToHost(sums_here_.data(), sums_.data(), 1, stream_);
  forward_done_.Record(stream_);
  Backward(batch.samples);
  done_.Record(stream_);

  forward_done_.Wait();
  forward_end_ = DilatedClock::now();
  for (int tensor = 0; tensor < plan_->tensors(); ++tensor) {
    // Buckets end in flat order.
    for (int bucket = plan_->first_bucket(tensor); bucket <= plan_->last_bucket(tensor); ++bucket) {
      if (last_tensor_[static_cast<std::size_t>(bucket)] == tensor) {
        vectors_->WaitForGradient(bucket);
      }
    }
    tracker_->TensorReady(tensor);
  }
  done_.Wait();
  return sums_here_.data()->loss;
}

/// Other workers wait for the gradients of this one.
double CudaNetwork::ContributeNothing() {
  tracker_->AwaitAll();
  CheckCuda(
      cudaMemsetAsync(vectors_->grads().data(), 0, vectors_->grads().size_bytes(), stream_.get()));
  for (int tensor = 0; tensor < plan_->tensors(); ++tensor) FinishTensor(tensor);
  done_.Record(stream_);
  done_.Wait();
  for (int bucket = 0; bucket < plan_->buckets(); ++bucket) vectors_->WaitForGradient(bucket);
  for (int tensor = 0; tensor < plan_->tensors(); ++tensor) tracker_->TensorReady(tensor);
  return 0;
}

Evaluation CudaNetwork::Evaluate(const Batch& batch) {
  if (batch.samples == 0) return {};
  device_.MakeCurrent();
  Upload(batch);
  Forward(batch.samples, /*training=*/false);
  math_.CrossEntropy(batch.samples, layers_.back()->outputs, layers_.back()->output.data(),
                     labels_.data(), 1, losses_.data(), hits_.data(), nullptr);
  math_.Sum(batch.samples, losses_.data(), hits_.data(), &sums_.data()->loss, &sums_.data()->hits);
  EnqueueToHost(sums_here_.data(), sums_.data(), 1, stream_);
  done_.Record(stream_);
  done_.Wait();
  return {sums_here_.data()->loss, sums_here_.data()->hits,
          static_cast<std::int64_t>(batch.samples)};
}

}  // namespace ringside
