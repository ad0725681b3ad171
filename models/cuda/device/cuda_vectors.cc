#include "ringside/models/cuda/device/cuda_vectors.h"

#include "ringside/common/base/errors.h"
#include "ringside/common/base/finite.h"
#include "ringside/models/cuda/device/cuda_optimizer.h"

namespace ringside {

CudaVectors::CudaVectors(const FlatSpace& space, const CudaDevice& device)
    : space_(space),
      device_(device),
      pinned_(space.memory().data()),
      params_(space.size()),
      grads_(space.size()) {
  Pin();
}

CudaVectors::~CudaVectors() {
  // Nobody could do anything about errors here.
  cudaStreamSynchronize(to_host_.get());
  cudaHostUnregister(pinned_);
}

void CudaVectors::Pin() const {
  CheckCuda(cudaHostRegister(pinned_, space_.memory().size(), cudaHostRegisterDefault));
}

/// What is pinned is memory, not an address.
void CudaVectors::HostMemoryMoved() {
  device_.MakeCurrent();
  CheckCuda(cudaHostUnregister(pinned_));
  Pin();
}

CudaVectors::Pair CudaVectors::Of(FlatVector vector) const {
  switch (vector) {
    case FlatVector::kParams:
      return {space_.params().data(), params_.data()};
    case FlatVector::kGrads:
      return {space_.grads().data(), grads_.data()};
    case FlatVector::kNone:
      break;
  }
  throw InternalError("a copy between host and GPU of neither vector");
}

void CudaVectors::CopyToDevice(FlatVector vector, std::size_t offset, std::size_t size) {
  device_.MakeCurrent();
  const std::lock_guard lock(mutex_);
  const Pair pair = Of(vector);
  EnqueueToDevice(pair.device + offset, pair.host + offset, size, stream_);
  done_.Record(stream_);
  done_.Wait();
}

void CudaVectors::CopyToHost(FlatVector vector) {
  device_.MakeCurrent();
  const std::lock_guard lock(mutex_);
  const Pair pair = Of(vector);
  EnqueueToHost(pair.host, pair.device, space_.size(), stream_);
  done_.Record(stream_);
  done_.Wait();
}

bool CudaVectors::GradientsAreFinite(int bucket) const {
  return largest_here_.data()[bucket] < kInfinityBits;
}

std::unique_ptr<Optimizer> CudaVectors::MakeOptimizer(const OptimizerOptions& options) {
  device_.MakeCurrent();
  return std::make_unique<CudaOptimizer>(options, *this, space_.size(), device_);
}

void CudaVectors::Prepare(const BucketPlan& plan) {
  const auto buckets = static_cast<std::size_t>(plan.buckets());
  plan_ = &plan;
  written_ = std::vector<CudaEvent>(buckets);
  read_ = std::vector<CudaEvent>(buckets);
  largest_.Resize(buckets);
  largest_here_.Resize(buckets);
}

void CudaVectors::HoldUntilRead(std::size_t offset, const CudaStream& stream) const {
  if (plan_ == nullptr) return;  // no model reads them
  int bucket = 0;
  while (plan_->range(bucket).end <= offset) ++bucket;
  read_[static_cast<std::size_t>(bucket)].HoldBack(stream);
}

void CudaVectors::GradientWritten(int bucket, const BucketPlan::Range& range,
                                  const CudaStream& stream, DeviceMath& math) {
  CudaEvent& written = written_[static_cast<std::size_t>(bucket)];
  if (!gradients_to_host_) {
    std::uint32_t* largest = largest_.data() + bucket;
    CheckCuda(cudaMemsetAsync(largest, 0, sizeof(*largest), stream.get()));
    math.LargestMagnitude(grads_.data() + range.begin, range.size(), largest);
    EnqueueToHost(largest_here_.data() + bucket, largest, 1, stream);
    written.Record(stream);
    return;
  }
  written.Record(stream);
  written.HoldBack(to_host_);
  EnqueueToHost(space_.grads().data() + range.begin, grads_.data() + range.begin, range.size(),
                to_host_);
  written.Record(to_host_);
}

}  // namespace ringside
