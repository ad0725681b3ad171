#include "ringside/common/optim/host_optimizer.h"

#include <algorithm>
#include <optional>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/finite.h"

namespace ringside {
namespace {

// Floats after which an update ends if a gradient is not finite.
constexpr std::size_t kBlock = 4096;

[[noreturn]] void ThrowNotFinite(std::size_t offset, std::span<const float> grads,
                                 const Update& update) {
  const std::optional<std::size_t> first = FirstNotFinite(grads);
  if (!first) throw InternalError("a gradient refused as not finite is finite");
  const std::size_t index = *first;
  throw DivergedError("the gradient that update " + std::to_string(update.number) +
                      " applies to parameter " + std::to_string(offset + index) + " is " +
                      std::to_string(grads[index]));
}

}  // namespace

void HostOptimizer::LoadState(std::span<const float> state) {
  std::ranges::copy(state, state_.begin());
}

void HostOptimizer::ReadState(std::span<float> out) { std::ranges::copy(state_, out.begin()); }

void HostOptimizer::ApplySpan(std::size_t offset, std::span<const float> in, std::span<float> out,
                              std::span<const float> grads, const Update& update) {
  for (std::size_t begin = 0; begin < in.size(); begin += kBlock) {
    const std::size_t size = std::min(kBlock, in.size() - begin);
    const auto block = grads.subspan(begin, size);
    const std::uint32_t largest = ApplyBlock(offset + begin, in.subspan(begin, size),
                                             out.subspan(begin, size), block, update);
    if (largest >= kInfinityBits) ThrowNotFinite(offset + begin, block, update);
  }
}

}  // namespace ringside
