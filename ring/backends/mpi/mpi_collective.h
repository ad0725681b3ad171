#ifndef RINGSIDE_RING_BACKENDS_MPI_MPI_COLLECTIVE_H_
#define RINGSIDE_RING_BACKENDS_MPI_MPI_COLLECTIVE_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/core/failure_latch.h"
#include "ringside/common/core/world.h"
#include "ringside/ring/core/collective.h"
#include "ringside/ring/core/collective_entry.h"
#include "ringside/ring/core/operation.h"

namespace ringside {

/// `MPI_Allreduce` of the MPI library, which chooses its own algorithm by size and number of ranks:
/// results are the same on all ranks, but their last bits may differ between versions and settings
/// of that library.
///
/// The processes must have been started by mpirun, one a rank, numbered as the world is. MPI is
/// initialised by the first collective of a process, on its thread, for MPI_THREAD_SERIALIZED, and
/// finalised when that process exits, if each of its collectives ended with an `AllGather`. A rank
/// that ends otherwise leaves MPI as it is: finalising would wait for ranks that do not come.
///
/// MPI's calls take no deadline. So before each call every rank sends every other an empty message
/// and polls for theirs: the error names a rank whose message misses the operation's timeout.
/// Before the first call the ranks wait for each other in the store. Only the launcher notices a
/// rank that dies inside MPI's own call or never reaches the initialisation.
class MpiCollective : public Collective {
 public:
  /// Throws `ConfigError` when MPI counts other ranks than the world has.
  explicit MpiCollective(const CollectiveContext& context);
  ~MpiCollective() override;

  void AllReduceSum(const BucketMessage& message) override;
  void Broadcast(std::span<std::byte> data, int root) override;
  void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) override;
  /// Bytes given to MPI; it does not report what it sends.
  Traffic traffic() const override { return traffic_; }

 private:
  class Communicators;

  void RequireSameWorld() const;
  template <typename Call>
  void Run(const Operation& operation, const Call& call);
  [[noreturn]] void Fail(const std::string& peer, const Operation& operation,
                         const std::string& reason);

  const World world_;
  const std::chrono::milliseconds timeout_;
  std::unique_ptr<Communicators> mpi_;
  FailureLatch failure_;
  bool left_together_ = false;  // the last call was an all-gather, and succeeded
  Traffic traffic_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_BACKENDS_MPI_MPI_COLLECTIVE_H_
