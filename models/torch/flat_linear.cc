#include "ringside/models/torch/flat_linear.h"

#include <torch/csrc/autograd/custom_function.h>

#include <utility>

namespace ringside {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& weight, const at::Tensor& bias,
                            const at::Tensor& weight_grad, const at::Tensor& bias_grad) {
    context->save_for_backward({input, weight});
    context->saved_data["weight_grad"] = weight_grad;
    context->saved_data["bias_grad"] = bias_grad;
    context->saved_data["input_requires_grad"] = input.requires_grad();
    return at::addmm(bias, input, weight.t());
  }

  static variable_list backward(AutogradContext* context, variable_list output_grads) {
    const at::Tensor output_grad = std::move(output_grads[0]);
    const variable_list saved = context->get_saved_variables();
    at::Tensor weight_grad = context->saved_data["weight_grad"].toTensor();
    at::Tensor bias_grad = context->saved_data["bias_grad"].toTensor();
    at::mm_out(weight_grad, output_grad.t(), saved[0]);
    at::sum_out(bias_grad, output_grad, {0});
    // This node still reads the weight, so its bucket may be submitted only afterwards.
    at::Tensor input_grad;
    if (context->saved_data["input_requires_grad"].toBool())
      input_grad = at::mm(output_grad, saved[1]);
    return {input_grad, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor FlatLinear(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                      const at::Tensor& weight_grad, const at::Tensor& bias_grad) {
  return LinearFunction::apply(input, weight, bias, weight_grad, bias_grad);
}

}  // namespace ringside
