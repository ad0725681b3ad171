#ifndef RINGSIDE_COMMON_OPTIM_HOST_OPTIMIZER_H_
#define RINGSIDE_COMMON_OPTIM_HOST_OPTIMIZER_H_

#include <cstdint>
#include <vector>

#include "ringside/common/optim/optimizer.h"

namespace ringside {

/// An optimizer that computes on the CPU, on spans of host memory. Private to common/optim.
class HostOptimizer : public Optimizer {
 public:
  void LoadState(std::span<const float> state) override;
  void ReadState(std::span<float> out) override;
  std::span<float> state() override { return state_; }

 protected:
  HostOptimizer(std::size_t elements, std::size_t state_size)
      : Optimizer(elements), state_(state_size, 0.0F) {}

 private:
  void ApplySpan(std::size_t offset, std::span<const float> in, std::span<float> out,
                 std::span<const float> grads, const Update& update) final;
  /// As `ApplySpan`, in one pass. Where a gradient is not finite, `out` gets the value of `in`.
  /// Returns the largest `MagnitudeBits` of the gradients.
  virtual std::uint32_t ApplyBlock(std::size_t offset, std::span<const float> in,
                                   std::span<float> out, std::span<const float> grads,
                                   const Update& update) = 0;

  std::vector<float> state_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_OPTIM_HOST_OPTIMIZER_H_
