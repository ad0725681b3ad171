#ifndef RINGSIDE_RING_SHM_COLLECTIVE_H_
#define RINGSIDE_RING_SHM_COLLECTIVE_H_

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/flat_space.h"
#include "common/store.h"
#include "common/strategy_entry.h"
#include "ring/host_collective.h"
#include "ring/host_map.h"
#include "ring/shm_group.h"
#include "ring/shm_spaces.h"

namespace ringside {

/// When a job has one host: all workers. Throws `ConfigError` when it has several.
HostRanks AllOnOneHost(const World& world);

/// Sums in the memory that the workers of a host share. Spans of a `FlatSpace` that `Prepare` has
/// seen are summed where they lie; others pass through a region of the collective's own. Every
/// element is summed once, by one rank, in the order of ranks.
///
/// A world of one touches no shared memory.
class ShmCollective : public HostCollective {
 public:
  /// Collective; rendezvous under `prefix`, which is new for each collective of a job.
  ShmCollective(const HostRanks& host, Store& store, const CommOptions& comm, std::string prefix,
                const ShmPatience& patience = {});

  /// Attaches to the flat vectors of the others, if they lie in shared memory.
  void Prepare(const FlatSpace& space, const BucketPlan& plan, std::int64_t first_step) override;
  void AllReduceSum(std::span<float> data, const std::string& what) override;
  void Broadcast(std::span<float> data, int root) override;
  std::vector<std::byte> AllGather(std::span<const std::byte> mine) override;
  /// That `Prepare` has attached to.
  const ShmSpaces& spaces() const { return spaces_; }
  /// What this rank has written to, and read from, memory of other ranks.
  Traffic traffic() const override { return traffic_; }

  std::size_t PieceElements(std::span<const float> data) const override;
  std::span<float> ReduceToShare(std::span<float> piece, int shares,
                                 const std::string& what) override;
  void GatherShares(std::span<float> piece, int shares, const std::string& what) override;

 private:
  template <typename Steps>
  void Run(const Steps& steps);
  /// Where the elements `data` of this rank's attached vectors lie of every rank.
  std::span<float* const> Attached(std::span<const float> data);
  /// Of the set in use, by rank, from element `begin` on.
  std::span<float* const> Slots(std::size_t begin = 0);
  /// Turns to the other set: this rank's slot there, to be written to.
  float* NextSlot();

  void SumSmall(std::span<float> data, const Operation& what);
  void SumInPlace(std::span<float> data, const Operation& what);
  std::span<float> Reduce(std::span<float> piece, int shares, const Operation& what);
  void Gather(std::span<float> piece, int shares, const Operation& what);
  void GatherStaged(std::span<float> piece, int shares, const Operation& what);
  void BroadcastInPlace(std::span<float> data, int root, const Operation& what);
  /// Elements that were written to, and read from, each of the others.
  void CountTraffic(std::size_t written, std::size_t read);

  int rank_;
  int size_;
  std::unique_ptr<ShmGroup> group_;  // null in a world of one
  std::size_t turn_ = 0;             // the set of slots in use
  ShmSpaces spaces_;
  std::vector<float*> vectors_;  // scratch of `Attached` and `Slots`
  std::exception_ptr failure_;
  Traffic traffic_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_SHM_COLLECTIVE_H_
