#ifndef RINGSIDE_RING_COLLECTIVES_HIERARCHICAL_COLLECTIVE_H_
#define RINGSIDE_RING_COLLECTIVES_HIERARCHICAL_COLLECTIVE_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/core/failure_latch.h"
#include "ringside/common/core/store.h"
#include "ringside/ring/core/collective.h"
#include "ringside/ring/core/host_collective.h"
#include "ringside/ring/core/host_map.h"

namespace ringside {

/// The parts of a hierarchy. Every host cuts a sum into as many chunks as the smallest host has
/// workers. Rank r of a host has chunk r, if there is one. Ranks with the same chunk form a lane.
struct HierarchyParts {
  HostMap map;
  std::unique_ptr<HostCollective> inner;  ///< Among this host's workers.
  /// Among this lane's workers, by host; null on ranks without a chunk, and with one host. Its
  /// errors name workers of the job.
  std::unique_ptr<Collective> outer;
};

/// Sums within every host first, so that each element crosses a host's link only once for all its
/// workers. Three parts: a reduce-scatter on each host, an all-reduce over the hosts in all lanes
/// at the same time, an all-gather on each host. With H hosts and M bytes, the lanes of a host
/// together send 2(H-1)/H M when `outer` is a ring, and receive the same.
///
/// It depends on neither shared memory nor sockets.
class HierarchicalCollective : public Collective {
 public:
  /// Borrows `store`. A rank that fails writes there, under `prefix`, which peer it missed.
  HierarchicalCollective(HierarchyParts parts, int rank, Store& store, std::string prefix);

  void Prepare(const FlatSpace& space, const BucketPlan& plan) override;
  void AllReduceSum(const BucketMessage& message) override;
  void Broadcast(std::span<std::byte> data, int root) override;
  void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) override {
    GatherAll(nullptr, mine, all);
  }
  void AllGatherOf(const BucketMessage& message, std::span<const std::byte> mine,
                   std::vector<std::byte>& all) override {
    GatherAll(&message, mine, all);
  }
  /// Bytes to and from other hosts.
  Traffic traffic() const override;
  std::string Notes() const override { return inner_ == nullptr ? "" : inner_->Notes(); }

 private:
  template <typename Steps>
  void Run(const Steps& steps);
  /// Does steps among the hosts, if this rank is in a lane.
  template <typename Steps>
  void AmongHosts(const Steps& steps);
  [[noreturn]] void Fail(const CommError& seen);
  /// `message`: what the bytes encode; null: nothing of a bucket.
  void GatherAll(const BucketMessage* message, std::span<const std::byte> mine,
                 std::vector<std::byte>& all);
  void GatherHosts(const BucketMessage* message, std::span<const std::byte> mine);

  HostMap map_;
  int rank_;  // in the job
  std::unique_ptr<HostCollective> inner_;
  std::unique_ptr<Collective> outer_;
  bool outer_failed_ = false;
  Store& store_;
  std::string prefix_;
  // Gather buffers: the bytes of this host's workers, one block, the blocks of all hosts.
  std::vector<std::byte> here_, block_, blocks_;
  FailureLatch failure_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_COLLECTIVES_HIERARCHICAL_COLLECTIVE_H_
