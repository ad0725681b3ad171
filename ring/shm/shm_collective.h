#ifndef RINGSIDE_RING_SHM_SHM_COLLECTIVE_H_
#define RINGSIDE_RING_SHM_SHM_COLLECTIVE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/core/failure_latch.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/core/store.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/ring/core/host_collective.h"
#include "ringside/ring/core/host_map.h"
#include "ringside/ring/shm/shm_group.h"
#include "ringside/ring/shm/shm_spaces.h"

namespace ringside {

/// Returns all workers of a job on one host. Throws `ConfigError` when there are several hosts.
HostRanks AllOnOneHost(const World& world);

/// A collective in the shared memory of one host's workers. Messages in a vector of the `FlatSpace`
/// that `Prepare` got are summed where they lie; all other data are copied through a region of the
/// collective. Every element is summed in the order of ranks.
///
/// With one worker it uses no shared memory.
class ShmCollective : public HostCollective {
 public:
  /// Collective. Meets the others under `prefix`, which is new for each collective of a job.
  ShmCollective(const HostRanks& host, Store& store, const CommOptions& comm, std::string prefix,
                const ShmWaitPolicy& patience = {});

  /// Attaches to the flat vectors of the others if these are in shared memory.
  void Prepare(const FlatSpace& space, const BucketPlan& plan) override;
  void AllReduceSum(const BucketMessage& message) override;
  void Broadcast(std::span<std::byte> data, int root) override;
  void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) override;
  /// The vectors that `Prepare` has mapped.
  const ShmSpaces& spaces() const { return spaces_; }
  /// Bytes that this rank has written to, and read from, the memory of other ranks.
  Traffic traffic() const override { return traffic_; }

  std::size_t PieceElements(const BucketMessage& message) const override;
  BucketMessage ReduceScatter(const BucketMessage& piece, int chunks) override;
  void AllGatherChunks(const BucketMessage& piece, int chunks) override;

 private:
  template <typename Steps>
  void Run(const Steps& steps);
  /// Returns where the message's elements lie on every rank, in the mapped vectors.
  std::span<float* const> Attached(const BucketMessage& message);
  /// Returns the slots of the current set, by rank, from element `begin` on.
  std::span<float* const> Slots(std::size_t begin = 0);
  /// Changes to the other set and returns this rank's slot there, for writing.
  float* NextSlot();

  void SumSmall(std::span<float> data, const Operation& what);
  void SumInPlace(const BucketMessage& message, const Operation& what);
  void SumStaged(const BucketMessage& message, const Operation& what);
  BucketMessage Reduce(const BucketMessage& piece, int chunks, const Operation& what);
  void Gather(const BucketMessage& piece, int chunks, const Operation& what);
  void GatherStaged(std::span<float> piece, int chunks, const Operation& what);
  void BroadcastStaged(std::span<std::byte> data, int root, const Operation& what);
  /// Counts the elements written to each of the other ranks, and read from each.
  void CountTraffic(std::size_t written, std::size_t read);

  int rank_;
  int size_;
  std::unique_ptr<ShmGroup> group_;  // null in a world of one
  std::size_t turn_ = 0;             // chooses the current set of slots
  ShmSpaces spaces_;
  std::vector<float*> vectors_;  // scratch of `Attached` and `Slots`
  FailureLatch failure_;
  Traffic traffic_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_SHM_SHM_COLLECTIVE_H_
