#ifndef RINGSIDE_COMMON_STRATEGY_STRATEGY_TRAITS_H_
#define RINGSIDE_COMMON_STRATEGY_STRATEGY_TRAITS_H_

#include "ringside/common/base/memory_region.h"

namespace ringside {

enum class Family { kNone, kRing, kParameterServer };

/// Who sends to whom.
enum class Topology {
  kNone,          ///< Nobody sends anything.
  kRing,          ///< Each worker to the next one.
  kRingOfHosts,   ///< Each host to the next one; inside a host by other means.
  kAllReduce,     ///< Any other all-reduce: in pairs, along trees, as a library chooses.
  kSharedMemory,  ///< Workers read each other's memory.
  kServers,       ///< Each worker to every server and back.
};

/// How the parameters of the workers relate.
enum class Agreement {
  kNone,          ///< They do not: each worker trains alone.
  kSynchronous,   ///< They are those of one worker with the whole global batch.
  kPeriodic,      ///< Workers step alone and synchronise every few steps.
  kRelaxed,       ///< Workers wait for each other, but not for all, or not at every step.
  kAsynchronous,  ///< No worker waits for another one.
};

/// Where the servers of a job live.
enum class ServerPlacement {
  kNone,         ///< There are none.
  kAsAsked,      ///< In processes of their own or inside workers: the spec decides.
  kEveryWorker,  ///< One in every worker, and those that the spec asks for.
};

/// The batch over which a step's gradient is the average.
enum class Averaging {
  kGlobalBatch,  ///< The batches of all workers together: strategies that sum gradients.
  kLocalBatch,   ///< The worker's own: strategies whose workers step alone.
};

/// How the ranks of a strategy can run.
enum class Ranks {
  kAnywhere,      ///< Processes, or threads of one process.
  kProcesses,     ///< A process each: the transport has one rank a process.
  kMpiProcesses,  ///< A process each, started by mpirun.
};

/// What a strategy does with a model whose parameters and gradients lie on a GPU.
enum class DeviceUse {
  /// It works in host memory alone: gradients are copied there, and new parameters back.
  kNone,
  /// It sums gradients in host memory and hands each bucket to the worker's `Optimizer`, which
  /// updates the parameters on the GPU.
  kUpdates,
  /// It takes buckets that lie on the GPU (`Bucket::device`), and copies nothing.
  kBuckets,
};

/// The kind of a strategy. Reports, checks, verify, bench and the tests decide by these members,
/// never by a name. A value.
struct StrategyTraits {
  Family family = Family::kNone;
  Topology topology = Topology::kNone;
  Agreement agreement = Agreement::kSynchronous;
  ServerPlacement servers = ServerPlacement::kNone;
  MemoryKind memory = MemoryKind::kOrdinary;  ///< Of the flat vectors.
  Ranks ranks = Ranks::kAnywhere;
  /// A synchronous strategy gives the same bits in every run.
  bool repeatable = true;
  /// Its servers go on without a lost worker (`Server::DropWorker`).
  bool drops_workers = false;
  /// It can leave the update to its caller (`StrategyContext::caller_updates`).
  bool leaves_sums = false;

  bool synchronous() const { return agreement == Agreement::kSynchronous; }
  bool has_servers() const { return servers != ServerPlacement::kNone; }
  Averaging averaging() const {
    const bool alone = agreement == Agreement::kNone || agreement == Agreement::kPeriodic;
    return alone ? Averaging::kLocalBatch : Averaging::kGlobalBatch;
  }
};

/// "none", "ring", "parameter server".
const char* FamilyName(Family family);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_STRATEGY_TRAITS_H_
