#ifndef RINGSIDE_MODELS_TORCH_FLAT_LINEAR_H_
#define RINGSIDE_MODELS_TORCH_FLAT_LINEAR_H_

// Private to the .cc files of this folder.

#include <ATen/ATen.h>

namespace ringside {

/// input x weight^T + bias, for an input of samples x features. Its backward pass writes the
/// gradients of weight and bias straight into `weight_grad` and `bias_grad`, and gives autograd
/// undefined gradients. So no temporary of the weight's size is allocated, zeroed or copied.
///
/// A backward pass *overwrites* both, so a layer may be used only once per step.
at::Tensor FlatLinear(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                      const at::Tensor& weight_grad, const at::Tensor& bias_grad);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TORCH_FLAT_LINEAR_H_
