#ifndef RINGSIDE_COMMON_OPTIM_SGD_H_
#define RINGSIDE_COMMON_OPTIM_SGD_H_

#include "ringside/common/optim/host_optimizer.h"

namespace ringside {

/// SGD as in torch::optim without dampening. Private to common/optim; made by `Optimizer::Make`.
///   d = g + weight_decay p;  v = momentum v + d;  p -= rate (nesterov ? d + momentum v : v)
/// State: v, which starts at zero, so the first v is d; none without momentum.
class Sgd : public HostOptimizer {
 public:
  Sgd(const OptimizerOptions& options, std::size_t elements);

  int state_per_parameter() const override { return options_.momentum != 0 ? 1 : 0; }

 private:
  std::uint32_t ApplyBlock(std::size_t offset, std::span<const float> in, std::span<float> out,
                           std::span<const float> grads, const Update& update) override;

  const OptimizerOptions options_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_OPTIM_SGD_H_
