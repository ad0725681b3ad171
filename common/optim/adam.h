#ifndef RINGSIDE_COMMON_OPTIM_ADAM_H_
#define RINGSIDE_COMMON_OPTIM_ADAM_H_

#include "ringside/common/optim/host_optimizer.h"

namespace ringside {

/// What one update of Adam or AdamW needs of its options and its number, once for all parameters.
struct AdamScalars {
  float scale;   ///< Of gradients.
  float l2;      ///< Adam's penalty, 0 for AdamW.
  float shrink;  ///< AdamW's decay of the parameter itself, 1 for Adam.
  float beta1;
  float one_minus_beta1;
  float beta2;
  float one_minus_beta2;
  float step_size;
  float root_correction;  ///< sqrt(1 - beta2^n)
  float epsilon;
};
AdamScalars AdamScalarsOf(const OptimizerOptions& options, const Update& update);

/// Adam and AdamW as in torch::optim without amsgrad (Kingma and Ba, 2015; Loshchilov and Hutter,
/// 2019). Private to common/optim; made by `Optimizer::Make`. With n the number of the update:
///   Adam: g += weight_decay p;  AdamW: p *= 1 - rate weight_decay
///   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g g
///   p -= rate / (1 - beta1^n) m / (sqrt(v) / sqrt(1 - beta2^n) + epsilon)
/// State: all m, then all v.
class Adam : public HostOptimizer {
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
