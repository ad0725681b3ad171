#ifndef RINGSIDE_RING_MPI_COLLECTIVE_H_
#define RINGSIDE_RING_MPI_COLLECTIVE_H_

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/world.h"
#include "ring/collective.h"
#include "ring/collective_table.h"

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
/// MPI's calls take no deadline. So before each every rank sends every other an empty message,
/// whose arrival can be asked for: a rank whose message does not come within the operation's
/// timeout is named. Before the first the ranks meet in the store. One that dies inside MPI's own
/// call is for its launcher to notice; so is one that never comes to the initialisation.
class MpiCollective : public Collective {
 public:
  /// Throws `ConfigError` when MPI counts other ranks than the world has.
  explicit MpiCollective(const CollectiveContext& context);
  ~MpiCollective() override;

  void AllReduceSum(std::span<float> data, const std::string& what) override;
  void Broadcast(std::span<float> data, int root) override;
  std::vector<std::byte> AllGather(std::span<const std::byte> mine) override;
  /// The vectors handed to MPI; what it makes of them, it does not tell.
  Traffic traffic() const override { return traffic_; }

 private:
  class Communicators;

  void RequireSameWorld() const;
  template <typename Call>
  void Run(const std::string& operation, const Call& call);
  [[noreturn]] void Fail(const std::string& peer, const std::string& operation,
                         const std::string& reason);

  const World world_;
  const std::chrono::milliseconds timeout_;
  std::unique_ptr<Communicators> mpi_;
  std::exception_ptr failure_;
  bool left_together_ = false;  // the last call was an all-gather, and succeeded
  Traffic traffic_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_MPI_COLLECTIVE_H_
