#include "ringside/models/cuda/device/cuda_optimizer.h"

#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/finite.h"
#include "ringside/common/optim/adam.h"
#include "ringside/models/cuda/device/cuda_vectors.h"

namespace ringside {

CudaOptimizer::CudaOptimizer(const OptimizerOptions& options, CudaVectors& vectors,
                             std::size_t elements, const CudaDevice& device)
    : Optimizer(elements),
      options_(options),
      vectors_(vectors),
      device_(device),
      math_(stream_.get()),
      largest_(1),
      largest_here_(1) {
  CheckOptimizerOptions(options);
  state_.Resize(elements * static_cast<std::size_t>(CudaOptimizer::state_per_parameter()));
  if (state_.size() == 0) return;
  CheckCuda(cudaMemsetAsync(state_.data(), 0, state_.size() * sizeof(float), stream_.get()));
}

int CudaOptimizer::state_per_parameter() const {
  if (options_.kind != OptimizerOptions::Kind::kSgd) return 2;
  return options_.momentum != 0 ? 1 : 0;
}

void CudaOptimizer::LoadState(std::span<const float> state) {
  if (state.empty()) return;
  device_.MakeCurrent();
  const std::lock_guard lock(mutex_);
  EnqueueToDevice(state_.data(), state.data(), state.size(), stream_);
  done_.Record(stream_);
  done_.Wait();
}

void CudaOptimizer::ReadState(std::span<float> out) {
  device_.MakeCurrent();
  const std::lock_guard lock(mutex_);
  EnqueueToHost(out.data(), state_.data(), out.size(), stream_);
  done_.Record(stream_);
  done_.Wait();
}

void CudaOptimizer::ApplySpan(std::size_t offset, std::span<const float> in, std::span<float>,
                              std::span<const float> grads, const Update& update) {
  if (in.empty()) return;
  device_.MakeCurrent();
  const std::lock_guard lock(mutex_);
  if (!vectors_.OnDevice(grads)) {
    EnqueueToDevice(vectors_.grads().data() + offset, grads.data(), grads.size(), stream_);
  }
  vectors_.HoldUntilRead(offset, stream_);
  CheckCuda(cudaMemsetAsync(largest_.data(), 0, sizeof(std::uint32_t), stream_.get()));
  Enqueue(offset, in.size(), update);
  EnqueueToHost(largest_here_.data(), largest_.data(), 1, stream_);
  done_.Record(stream_);
  done_.Wait();
  if (*largest_here_.data() < kInfinityBits) return;
  throw DivergedError("a gradient that update " + std::to_string(update.number) +
                      " applies to one of the parameters " + std::to_string(offset) + " to " +
                      std::to_string(offset + in.size() - 1) + " is not finite");
}

void CudaOptimizer::Enqueue(std::size_t offset, std::size_t size, const Update& update) {
  float* params = vectors_.params().data() + offset;
  const float* grads = vectors_.grads().data() + offset;
  float* state = state_.size() == 0 ? nullptr : state_.data() + offset;
  if (options_.kind == OptimizerOptions::Kind::kSgd) {
    math_.Sgd(params, grads, state, size,
              {.rate = static_cast<float>(update.learning_rate),
               .momentum = static_cast<float>(options_.momentum),
               .weight_decay = static_cast<float>(options_.weight_decay),
               .scale = static_cast<float>(options_.gradient_scale),
               .nesterov = options_.nesterov},
              largest_.data());
  } else {
    math_.Adam(params, grads, state, state + elements(), size, AdamScalarsOf(options_, update),
               largest_.data());
  }
}

}  // namespace ringside
