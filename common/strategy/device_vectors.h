#ifndef RINGSIDE_COMMON_STRATEGY_DEVICE_VECTORS_H_
#define RINGSIDE_COMMON_STRATEGY_DEVICE_VECTORS_H_

#include <cstddef>
#include <memory>
#include <span>

#include "ringside/common/core/flat_vector.h"
#include "ringside/common/optim/optimizer.h"

namespace ringside {

/// The flat vectors of a worker in the memory of its GPU, beside those of its `FlatSpace` in host
/// memory. The model reads and writes those on the GPU. Who needs them on the host copies them.
///
/// All calls return when their work on the GPU is done, and wait for nothing else there. Thread
/// safety: calls for disjoint ranges may run at the same time. Throws `InternalError` with the text
/// of the GPU's error.
class DeviceVectors {
 public:
  virtual ~DeviceVectors() = default;

  /// Addresses on the GPU, which the host must not read or write.
  virtual std::span<float> params() const = 0;
  virtual std::span<float> grads() const = 0;

  /// Copies elements of a vector, from `offset` on, from host memory to the GPU.
  virtual void CopyToDevice(FlatVector vector, std::size_t offset, std::size_t size) = 0;
  /// Copies a whole vector from the GPU to host memory.
  virtual void CopyToHost(FlatVector vector) = 0;
  /// `FlatSpace::Share` has given the space other memory at the same address.
  virtual void HostMemoryMoved() = 0;
  /// Whether the model copies each bucket's gradient to host memory, through pinned memory and
  /// while the backward pass goes on, before it submits the bucket. Before the first step.
  virtual void SetGradientsToHost(bool to_host) = 0;
  /// Whether all gradients of a bucket are finite. Only for a bucket that the model has submitted
  /// and whose gradients stay on the GPU: the GPU has looked at them already.
  virtual bool GradientsAreFinite(int bucket) const = 0;

  /// An optimizer that updates the parameters on the GPU. It takes gradients on the GPU, or those
  /// of the `FlatSpace`, which it copies to the GPU first. Of the parameters that it is given it
  /// uses the position alone.
  virtual std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerOptions& options) = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_DEVICE_VECTORS_H_
