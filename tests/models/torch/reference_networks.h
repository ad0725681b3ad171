#ifndef RINGSIDE_TESTS_MODELS_TORCH_REFERENCE_NETWORKS_H_
#define RINGSIDE_TESTS_MODELS_TORCH_REFERENCE_NETWORKS_H_

#include <ATen/ATen.h>

#include <map>
#include <string>

#include "ringside/common/training/model.h"

namespace ringside {

/// Parameters by name, leaves that require gradients.
using NamedTensors = std::map<std::string, at::Tensor>;

/// Copies of a bound model's parameters in the shapes that the networks below want, which follow
/// from their names and sizes.
NamedTensors CopyParameters(const Model& model, const FlatSpace& space, const BucketPlan& plan);

/// The networks once more, as plain functions on plain autograd, to compare with: samples x
/// channels x height x width -> logits.
at::Tensor ReferenceMlp(const at::Tensor& input, const NamedTensors& parameters);
at::Tensor ReferenceCnn(const at::Tensor& input, const NamedTensors& parameters);
at::Tensor ReferenceResNet18(const at::Tensor& input, const NamedTensors& parameters);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_MODELS_TORCH_REFERENCE_NETWORKS_H_
