#ifndef RINGSIDE_COMMON_STRATEGY_ENTRY_H_
#define RINGSIDE_COMMON_STRATEGY_ENTRY_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/measure/bound.h"
#include "common/measure/recorder.h"
#include "common/measure/timeline.h"
#include "common/memory_region.h"
#include "common/optim/optimizer.h"
#include "common/optim/schedule.h"
#include "common/store.h"
#include "common/strategy.h"
#include "common/strategy_options.h"
#include "common/world.h"

namespace ringside {

enum class Family { kNone, kRing, kParameterServer };

/// The batch over which a step's gradient is the average.
enum class Averaging {
  kGlobalBatch,  ///< The batches of all workers together: strategies that sum gradients.
  kOwnBatch,     ///< The worker's own: strategies whose workers step alone.
};

/// What the ranks of a strategy can be.
enum class Ranks {
  kAnywhere,      ///< Processes, or threads of one process.
  kProcesses,     ///< A process each: the transport has one rank a process.
  kMpiProcesses,  ///< A process each, which mpirun has started.
};

/// How processes of a job reach each other.
struct CommOptions {
  std::string address =
      "127.0.0.1";         ///< This process listens and connects here: an IP address, never a name.
  std::string token = {};  ///< The job's secret; travels in metadata, never in logs.
  std::chrono::milliseconds timeout{30'000};  ///< Of one operation.
  /// Of the rendezvous of a strategy's start, where it is longer than `timeout`: processes of a job
  /// start at different speeds.
  std::chrono::milliseconds start_timeout{60'000};
  /// How far workers may drift apart between steps; a dead worker is noticed by the job's leases
  /// long before.
  std::chrono::milliseconds meeting_timeout{std::chrono::hours(1)};

  std::chrono::milliseconds rendezvous_timeout() const { return std::max(start_timeout, timeout); }
};

/// What a strategy may use. Everything borrowed outlives it.
struct StrategyContext {
  const World& world;
  Store& store;
  const CommOptions& comm;
  /// Worker-side optimizer over the whole flat space. Families whose servers apply updates leave it
  /// alone.
  Optimizer& optimizer;
  const Schedule& schedule;
  Recorder& recorder;
  Timeline& timeline;
  StrategyOptions options = {};
};

struct ServerContext {
  int index = 0;  ///< 0 <= index < servers.
  int servers = 1;
  int workers = 1;
  Store& store;
  const CommOptions& comm;
  const OptimizerOptions& optimizer;
  const Schedule& schedule;
  Timeline& timeline;
  StrategyOptions options = {};
};

/// What a server tells of itself when it stops.
struct ServerReport {
  std::uint64_t bytes_received = 0;  ///< Payload.
  std::uint64_t bytes_sent = 0;
  std::map<std::int64_t, std::int64_t> staleness;  ///< Versions behind -> number of bucket pushes.
  std::int64_t updates = 0;                        ///< Optimizer applications, summed over buckets.
  std::int64_t dropped_pushes = 0;                 ///< Of buckets, that came too late to be used.
};

/// A parameter server, in a process of its own or inside a worker. Serves from construction, on
/// threads of its own, after publishing its address in the store. Destruction stops at once.
class Server {
 public:
  virtual ~Server() = default;
  /// Ends calls under way with an error for their callers, then stops serving. Idempotent.
  virtual ServerReport Stop() = 0;
};

/// A key that a strategy does not read, and why it would make no sense there.
struct KeyReason {
  std::string_view key;
  std::string_view reason;
};

/// One line of the table of strategies. The command line's help, the conformance tests, `verify`
/// and the matrix all read it: adding a strategy is one file and one entry
/// (docs/add-a-strategy.md).
struct StrategyEntry {
  std::string_view name;
  Family family;
  std::string_view summary;
  /// Follows the trajectory of one worker with the whole global batch.
  bool synchronous;
  Averaging averaging;
  MemoryKind memory;
  std::unique_ptr<Strategy> (*make)(const StrategyContext&);
  /// Null: the strategy has no servers.
  std::unique_ptr<Server> (*make_server)(const ServerContext&);
  /// Time and bytes that theory allows for one step. Pure.
  Cost (*bound)(const CostInput&);
  /// The keys of `StrategyOptions` that it reads, as flags spell them.
  std::span<const std::string_view> keys = {};
  /// Why it cannot run with these values in such a world, if it cannot. Null: any values will do.
  std::optional<OptionRefusal> (*check)(const StrategyOptions&, int workers, int servers) = nullptr;
  /// Why it cannot run on this machine, and what to do; empty: it can. Null: it always can.
  std::string (*unavailable)() = nullptr;
  /// The servers that are asked for come on top of one in every worker.
  bool spare_servers = false;
  Ranks ranks = Ranks::kAnywhere;
  /// A synchronous strategy gives the same bits in every run.
  bool repeatable = true;
  bool one_host = false;  ///< All workers must share memory.
  /// How its bytes travel between workers on so many hosts: "tcp", "shm". Null: nothing travels, or
  /// its key `ps-transport` says.
  std::string_view (*transport)(const StrategyOptions&, int workers, int hosts) = nullptr;
  /// Of some keys that it does not read: why. For errors.
  std::span<const KeyReason> senseless_keys = {};
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_ENTRY_H_
