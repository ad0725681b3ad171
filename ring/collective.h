#ifndef RINGSIDE_RING_COLLECTIVE_H_
#define RINGSIDE_RING_COLLECTIVE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/bucket_plan.h"
#include "common/flat_space.h"

namespace ringside {

/// Payload that this rank has handed to and taken from the transport, in bytes.
struct Traffic {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

/// What a ring family strategy stands on. All calls are collective: every rank makes the same calls
/// with the same sizes in the same order, one at a time, on one thread. Throws `CommError` that
/// names the peer and the operation; after that the collective is broken and every call throws.
/// Destruction closes the connections: after a successful call that all ranks leave together
/// (`AllGather`) nothing is lost; otherwise the peers fail.
class Collective {
 public:
  virtual ~Collective() = default;

  /// Optional: the spans that later all-reduces will use, so that connections' buffers can be set
  /// up once, and the step of the first of them.
  virtual void Prepare(const FlatSpace&, const BucketPlan&, std::int64_t /*first_step*/) {}
  /// In place: element-wise sum over all ranks, fp32, the same bits on every rank, and in every run
  /// where the algorithm is ours to pin.
  /// `what` names the operation in errors: "bucket 3, step 17".
  virtual void AllReduceSum(std::span<float> data, const std::string& what) = 0;
  /// In place: everybody gets the root's.
  virtual void Broadcast(std::span<float> data, int root) = 0;
  /// Every rank contributes equally many bytes; the result holds them by rank. A barrier.
  virtual std::vector<std::byte> AllGather(std::span<const std::byte> mine) = 0;
  /// Of all calls so far.
  virtual Traffic traffic() const = 0;
  /// What `Prepare` has decided, for the run's summary; empty: nothing to tell.
  virtual std::string Notes() const { return {}; }
};

}  // namespace ringside

#endif  // RINGSIDE_RING_COLLECTIVE_H_
