#include "ringside/models/torch/parameter_hooks.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

namespace ringside {
namespace {

using torch::autograd::variable_list;

class PostHook : public torch::autograd::FunctionPostHook {
 public:
  explicit PostHook(std::function<void()> call) : call_(std::move(call)) {}
  variable_list operator()(const variable_list& outputs, const variable_list&) override {
    call_();
    return outputs;
  }

 private:
  std::function<void()> call_;
};

}  // namespace

void ParameterHooks::Add(const at::Tensor& parameter, std::function<void()> call) {
  auto accumulator = torch::autograd::impl::grad_accumulator(parameter);
  accumulator->add_post_hook(std::make_unique<PostHook>(std::move(call)));
  accumulators_.push_back(std::move(accumulator));
}

// The threads of OpenBLAS do not follow libtorch's setting. Other BLAS libraries follow it and do
// not have this symbol.
void SetComputeThreads(int threads) {
  at::set_num_threads(threads);
  using SetThreads = void (*)(int);
  if (void* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))
    reinterpret_cast<SetThreads>(symbol)(threads);
}

}  // namespace ringside
