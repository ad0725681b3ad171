#ifndef RINGSIDE_RING_CORE_COLLECTIVE_H_
#define RINGSIDE_RING_CORE_COLLECTIVE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/core/state_vector.h"
#include "ringside/ring/core/bucket_message.h"

namespace ringside {

/// Payload bytes that this rank has given to the transport and received from it.
struct Traffic {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

/// Communication among all ranks, for strategies of the ring family. All calls are collective:
/// every rank makes the same calls with the same sizes in the same order, one at a time, on one
/// thread. A failure throws a `CommError` that names the peer and the operation; then every later
/// call throws too. Destruction closes the connections. After a successful `AllGather`, which all
/// ranks leave together, nothing is lost. Otherwise the peers fail.
class Collective {
 public:
  virtual ~Collective() = default;

  /// Before the first sum: sets up sums of `space`. Both arguments outlive the last sum. May be
  /// called again, to set up others. Plain collectives sum without it, too; those that encode
  /// (codec_collective.h) need the plan, and their sums throw `InternalError` before it.
  virtual void Prepare(const FlatSpace&, const BucketPlan&) {}
  /// Sums element by element over all ranks, in place, in fp32. The bits are the same on every
  /// rank. They are the same in every run if Ringside fixes the algorithm. Errors name the bucket
  /// and the step.
  virtual void AllReduceSum(const BucketMessage& message) = 0;
  /// Copies the root's bytes to all ranks, in place.
  virtual void Broadcast(std::span<std::byte> data, int root) = 0;
  /// Gathers the same number of bytes from every rank into `all`, by rank. It resizes `all`, so a
  /// caller who reuses a vector allocates nothing. It is a barrier.
  virtual void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) = 0;
  /// Does the same with encodings of `message`, for the record of its chunks.
  virtual void AllGatherOf(const BucketMessage& /*message*/, std::span<const std::byte> mine,
                           std::vector<std::byte>& all) {
    AllGatherInto(mine, all);
  }
  /// As `AllGatherInto`, and returns the bytes.
  std::vector<std::byte> AllGather(std::span<const std::byte> mine) {
    std::vector<std::byte> all;
    AllGatherInto(mine, all);
    return all;
  }
  /// The bytes of all calls so far.
  virtual Traffic traffic() const = 0;
  /// Text about what `Prepare` decided, for the run's summary. May be empty.
  virtual std::string Notes() const { return {}; }
  /// The bytes of a message if sums are pipelined around a ring; 0 if they are not.
  virtual std::size_t segment_bytes() const { return 0; }
  /// As `Strategy::State`; after `Prepare`, while no sum is under way.
  virtual std::vector<StateVector> State() { return {}; }
};

}  // namespace ringside

#endif  // RINGSIDE_RING_CORE_COLLECTIVE_H_
