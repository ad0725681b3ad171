#include "ringside/models/torch/network_state.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "ringside/models/networks/initial_values.h"

namespace ringside {
namespace {

std::size_t Elements(const std::vector<std::int64_t>& sizes) {
  return static_cast<std::size_t>(
      std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>()));
}

void Fill(std::span<float> values, const Initial& initial, InitialGenerator& generator) {
  if (initial.kind == Initial::Kind::kUniform) {
    FillUniform(values, initial.value, generator);
  } else {
    std::ranges::fill(values, static_cast<float>(initial.value));
  }
}

}  // namespace

int NetworkState::AddParameter(std::string name, std::vector<std::int64_t> sizes,
                               const Initial& initial) {
  parameters_.push_back({std::move(name), std::move(sizes), initial, {}, {}});
  return parameters() - 1;
}

int NetworkState::AddBuffer(std::size_t elements, float value) {
  buffer_sizes_.push_back(elements);
  buffer_values_.insert(buffer_values_.end(), elements, value);
  return static_cast<int>(buffer_sizes_.size()) - 1;
}

std::vector<TensorSpec> NetworkState::Specs() const {
  std::vector<TensorSpec> specs;
  for (auto parameter = parameters_.rbegin(); parameter != parameters_.rend(); ++parameter)
    specs.push_back({parameter->name, Elements(parameter->sizes), parameter->sizes});
  return specs;
}

void NetworkState::Bind(FlatSpace& space, const BucketPlan& plan, std::uint64_t seed) {
  InitialGenerator generator = MakeInitialGenerator(seed);
  for (int i = 0; i < parameters(); ++i) {
    Parameter& parameter = parameters_[static_cast<std::size_t>(i)];
    const BucketPlan::Range& range = plan.tensor_range(flat_index(i));
    const std::size_t begin = range.begin;
    Fill(space.params().subspan(begin, range.size()), parameter.initial, generator);
    parameter.value = at::from_blob(space.params().data() + begin, parameter.sizes);
    parameter.grad = at::from_blob(space.grads().data() + begin, parameter.sizes);
    parameter.value.requires_grad_(true);
  }
  float* next = buffer_values_.data();
  for (const std::size_t size : buffer_sizes_) {
    buffers_.push_back(at::from_blob(next, {static_cast<std::int64_t>(size)}));
    next += size;
  }
}

const at::Tensor& NetworkState::Read(int parameter) const {
  if (tracker_ != nullptr) tracker_->AwaitTensor(flat_index(parameter));
  return value(parameter);
}

}  // namespace ringside
