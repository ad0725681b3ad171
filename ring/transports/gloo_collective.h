#ifndef RINGSIDE_RING_TRANSPORTS_GLOO_COLLECTIVE_H_
#define RINGSIDE_RING_TRANSPORTS_GLOO_COLLECTIVE_H_

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/core/failure_latch.h"
#include "ringside/common/core/store.h"
#include "ringside/common/core/world.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/ring/algorithms/link_algorithm.h"
#include "ringside/ring/core/encodable_collective.h"
#include "ringside/ring/core/failure_attribution.h"
#include "ringside/ring/core/operation.h"
#include "ringside/ring/transports/encoded_links.h"
#include "ringside/ring/transports/gloo_links.h"

namespace ringside {

/// Sums over Gloo's TCP transport with an algorithm that the caller chooses. A world of one opens
/// no sockets.
///
/// Errors name the rank that failed (ring/core/failure_attribution.h).
class GlooCollective : public EncodableCollective {
 public:
  /// Collective; rendezvous under `prefix`, which is new for each collective of a job. Borrows
  /// `store`. Connects for all of `algorithms` (at least one) and sums with the first. `workers`
  /// tells which worker of the job each rank of `world` is, so that errors name that one; empty:
  /// the one with the same number.
  GlooCollective(const World& world, Store& store, const CommOptions& comm,
                 std::span<const LinkAlgorithm* const> algorithms, std::string prefix,
                 std::vector<int> workers = {});
  GlooCollective(const World& world, Store& store, const CommOptions& comm,
                 const LinkAlgorithm& algorithm, std::string prefix, std::vector<int> workers = {})
      : GlooCollective(world, store, comm, std::array{&algorithm}, std::move(prefix),
                       std::move(workers)) {}

  /// From now on sums with `algorithm`, one of those it was made for. Called on every rank.
  void Use(const LinkAlgorithm& algorithm) { algorithm_ = &algorithm; }
  int workers() const { return world_.workers; }
  /// From now on the chunks of sums that belong to a bucket are added to this timeline, which lives
  /// longer. Null: they are not.
  void RecordTo(Timeline* timeline) { timeline_ = timeline; }

  void AllReduceSum(const BucketMessage& message) override;
  void PrepareEncoded(const BucketPlan& plan, const Codec& codec) override;
  void AllReduceEncoded(const BucketMessage& message, Codec& codec) override;
  void Broadcast(std::span<std::byte> data, int root) override;
  void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) override;
  void AllGatherOf(const BucketMessage& message, std::span<const std::byte> mine,
                   std::vector<std::byte>& all) override;
  Traffic traffic() const override { return traffic_; }
  std::size_t segment_bytes() const override;

 private:
  /// Runs `steps` over the links and handles their errors; does nothing in a world of one.
  template <typename Steps>
  void Run(const Operation& operation, const Steps& steps);

  /// Makes room for the blocks of all ranks, and copies this rank's to its place.
  void PlaceMine(std::span<const std::byte> mine, std::vector<std::byte>& all) const;
  /// Runs `steps` over links that record the chunks of `message`, if somebody wants the record.
  template <typename Steps>
  void Recorded(Links& links, const BucketMessage& message, std::span<const std::byte> memory,
                std::size_t floats_per_element, const Steps& steps);

  [[noreturn]] void Fail(const Operation& operation, const CommError& seen);
  /// Who is to blame, as far as the ranks that have failed know. `endpoints` of all ranks.
  Blame FindBlame(const std::string& suspect, std::span<const std::string> endpoints) const;

  int WorkerOf(int rank) const { return of_job_[static_cast<std::size_t>(rank)]; }
  std::string NameOf(int rank) const { return "worker " + std::to_string(WorkerOf(rank)); }

  World world_;
  const std::vector<int> of_job_;  // by rank: the worker's number in the job
  Store& store_;
  const LinkAlgorithm* algorithm_;
  std::string prefix_;
  std::unique_ptr<CountingLinks> links_;  // null in a world of one, and after a failure
  std::vector<std::byte> scratch_;
  EncodedLinks::Workspace encoded_;
  Timeline* timeline_ = nullptr;
  FailureLatch failure_;
  Traffic traffic_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_TRANSPORTS_GLOO_COLLECTIVE_H_
