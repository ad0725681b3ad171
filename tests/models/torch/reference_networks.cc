#include "tests/models/torch/reference_networks.h"

#include <cstdint>
#include <vector>

namespace ringside {
namespace {

// Channels or features that come out of `layer`: the size of its bias or, without one, of the batch
// normalisation behind it.
std::int64_t Outputs(const NamedTensors& flat, const std::string& layer) {
  const auto bias = flat.find(layer + ".bias");
  if (bias != flat.end()) return bias->second.numel();
  std::string norm = layer;
  norm.replace(norm.rfind("conv"), 4, "bn");
  return flat.at(norm + ".weight").numel();
}

std::vector<std::int64_t> Shape(const NamedTensors& flat, const std::string& name) {
  const std::string layer = name.substr(0, name.rfind('.'));
  const bool weight = name.ends_with(".weight");
  if (weight && layer.find("linear") != std::string::npos) return {Outputs(flat, layer), -1};
  const std::int64_t kernel = layer.ends_with("shortcut.conv") ? 1 : 3;
  if (weight && layer.find("conv") != std::string::npos)
    return {Outputs(flat, layer), -1, kernel, kernel};
  return {-1};
}

at::Tensor Linear(const at::Tensor& x, const NamedTensors& p, const std::string& name) {
  return at::linear(x, p.at(name + ".weight"), p.at(name + ".bias"));
}

at::Tensor BatchNorm(const at::Tensor& x, const NamedTensors& p, const std::string& name) {
  return at::batch_norm(x, p.at(name + ".weight"), p.at(name + ".bias"), {}, {}, true, 0.1, 1e-5,
                        true);
}

at::Tensor Conv(const at::Tensor& x, const NamedTensors& p, const std::string& name, int stride) {
  const at::Tensor& weight = p.at(name + ".weight");
  return at::conv2d(x, weight, {}, stride, weight.size(2) / 2);
}

at::Tensor Block(const at::Tensor& x, const NamedTensors& p, const std::string& name, int stride) {
  const at::Tensor hidden =
      at::relu(BatchNorm(Conv(x, p, name + ".conv1", stride), p, name + ".bn1"));
  const at::Tensor main = BatchNorm(Conv(hidden, p, name + ".conv2", 1), p, name + ".bn2");
  if (!p.contains(name + ".shortcut.conv.weight")) return at::relu(main + x);
  const at::Tensor shortcut =
      BatchNorm(Conv(x, p, name + ".shortcut.conv", stride), p, name + ".shortcut.bn");
  return at::relu(main + shortcut);
}

}  // namespace

NamedTensors CopyParameters(const Model& model, const FlatSpace& space, const BucketPlan& plan) {
  NamedTensors flat;
  for (int i = 0; i < plan.tensors(); ++i) {
    const auto& range = plan.tensor_range(i);
    const auto values = space.params().subspan(range.begin, range.size());
    flat[model.Tensors()[static_cast<std::size_t>(i)].name] =
        at::tensor(std::vector<float>(values.begin(), values.end()));
  }
  NamedTensors shaped;
  for (const auto& [name, values] : flat)
    shaped[name] = values.view(Shape(flat, name)).requires_grad_(true);
  return shaped;
}

at::Tensor ReferenceMlp(const at::Tensor& input, const NamedTensors& p) {
  at::Tensor x = input.flatten(1);
  for (int i = 1; p.contains("linear" + std::to_string(i) + ".weight"); ++i) {
    if (i > 1) x = at::relu(x);
    x = Linear(x, p, "linear" + std::to_string(i));
  }
  return x;
}

at::Tensor ReferenceCnn(const at::Tensor& input, const NamedTensors& p) {
  at::Tensor x = input;
  for (const std::string name : {"conv1", "conv2"}) {
    x = at::relu(at::conv2d(x, p.at(name + ".weight"), p.at(name + ".bias"), 1, 1));
    if (x.size(2) >= 2 && x.size(3) >= 2) x = at::max_pool2d(x, 2);
  }
  return Linear(at::relu(Linear(x.flatten(1), p, "linear1")), p, "linear2");
}

at::Tensor ReferenceResNet18(const at::Tensor& input, const NamedTensors& p) {
  at::Tensor x = at::relu(BatchNorm(Conv(input, p, "conv1", 1), p, "bn1"));
  for (int stage = 1; stage <= 4; ++stage) {
    const std::string name = "stage" + std::to_string(stage);
    x = Block(x, p, name + ".block1", stage == 1 ? 1 : 2);
    x = Block(x, p, name + ".block2", 1);
  }
  return Linear(x.mean({2, 3}), p, "linear");
}

}  // namespace ringside
