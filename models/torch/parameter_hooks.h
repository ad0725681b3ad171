#ifndef RINGSIDE_MODELS_TORCH_PARAMETER_HOOKS_H_
#define RINGSIDE_MODELS_TORCH_PARAMETER_HOOKS_H_

// Private to the .cc files of this folder.

#include <ATen/ATen.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"

namespace torch::autograd {
struct Node;
}

namespace ringside {

/// Calls that autograd makes when the gradient of a parameter is final: once per backward pass, on
/// its thread, when no earlier node of the pass will read the parameter again. One thread.
class ParameterHooks {
 public:
  void Add(const at::Tensor& parameter, std::function<void()> call);

 private:
  // Autograd holds accumulators only weakly. These references keep the hooks after the first step.
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators_;
};

/// Sets the number of compute threads of the whole process (libtorch, OpenBLAS).
void SetComputeThreads(int threads);

/// Calls `function`. An error of libtorch becomes `InternalError`.
template <typename Function>
auto WithTypedErrors(Function function) {
  try {
    return function();
  } catch (const c10::Error& error) {
    throw InternalError(std::string("libtorch: ") + error.what_without_backtrace());
  }
}

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TORCH_PARAMETER_HOOKS_H_
