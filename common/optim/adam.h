#ifndef RINGSIDE_COMMON_OPTIM_ADAM_H_
#define RINGSIDE_COMMON_OPTIM_ADAM_H_

#include "ringside/common/optim/optimizer.h"

namespace ringside {

/// Adam and AdamW as in torch::optim without amsgrad (Kingma and Ba, 2015; Loshchilov and Hutter,
/// 2019). Private to common/optim; made by `Optimizer::Make`. With n the number of the update:
///   Adam: g += weight_decay p;  AdamW: p *= 1 - rate weight_decay
///   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g g
///   p -= rate / (1 - beta1^n) m / (sqrt(v) / sqrt(1 - beta2^n) + epsilon)
/// State: all m, then all v.
class Adam : public Optimizer {
 public:
  Adam(const OptimizerOptions& options, std::size_t elements);

  int state_per_parameter() const override { return 2; }

 private:
  std::uint32_t ApplyBlock(std::size_t offset, std::span<const float> in, std::span<float> out,
                           std::span<const float> grads, const Update& update) override;

  const OptimizerOptions options_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_OPTIM_ADAM_H_
