#ifndef RINGSIDE_RING_HIERARCHICAL_COLLECTIVE_H_
#define RINGSIDE_RING_HIERARCHICAL_COLLECTIVE_H_

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/errors.h"
#include "common/store.h"
#include "ring/collective.h"
#include "ring/host_collective.h"
#include "ring/host_map.h"

namespace ringside {

/// What a hierarchy is made of. Every host has as many shares as the smallest host has workers, and
/// rank r of a host (below that) has the r-th; ranks with the same share form a lane.
struct HierarchyParts {
  HostMap map;
  std::unique_ptr<HostCollective> inner;  ///< Among the workers of this host.
  /// Among the workers of this lane, by host; null on ranks without a share, and with one host.
  std::unique_ptr<Collective> outer;
};

/// Sums within every host first, so that each element crosses a host's link once for all its
/// workers: a reduce-scatter on the host, an all-reduce over the hosts in every lane at once, an
/// all-gather on the host. With H hosts and M bytes, the lanes of a host together send, and
/// receive, 2(H-1)/H M when `outer` is a ring.
///
/// Knows neither shared memory nor sockets.
class HierarchicalCollective : public Collective {
 public:
  /// Borrows `store`, where a rank that fails tells whom it missed, under `prefix`.
  HierarchicalCollective(HierarchyParts parts, int rank, Store& store, std::string prefix);

  void Prepare(const FlatSpace& space, const BucketPlan& plan, std::int64_t first_step) override;
  void AllReduceSum(std::span<float> data, const std::string& what) override;
  void Broadcast(std::span<float> data, int root) override;
  std::vector<std::byte> AllGather(std::span<const std::byte> mine) override;
  /// What goes to other hosts and comes from them.
  Traffic traffic() const override;
  std::string Notes() const override { return inner_ == nullptr ? "" : inner_->Notes(); }

 private:
  template <typename Steps>
  void Run(const Steps& steps);
  [[noreturn]] void Fail(const CommError& seen);
  template <typename Steps>
  void Outside(const Steps& steps);
  std::vector<float> GatherHosts(std::span<const std::byte> mine);

  HostMap map_;
  int rank_;  // in the job
  std::unique_ptr<HostCollective> inner_;
  std::unique_ptr<Collective> outer_;
  Store& store_;
  std::string prefix_;
  std::exception_ptr failure_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_HIERARCHICAL_COLLECTIVE_H_
