#ifndef RINGSIDE_COMMON_STRATEGY_SERVER_H_
#define RINGSIDE_COMMON_STRATEGY_SERVER_H_

#include <cstdint>
#include <map>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/core/store.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/common/optim/optimizer.h"
#include "ringside/common/optim/schedule.h"
#include "ringside/common/strategy/comm_options.h"
#include "ringside/common/strategy/strategy_options.h"

namespace ringside {

/// What a server gets at construction. Everything that is borrowed lives longer than the server.
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
  /// Somebody tells this server when a worker is lost (`Server::DropWorker`). So a connection that
  /// ends is no failure of the job.
  bool drops_lost_workers = false;
};

/// The counts that a server reports when it stops.
struct ServerReport {
  std::uint64_t bytes_received = 0;  ///< Payload.
  std::uint64_t bytes_sent = 0;
  std::map<std::int64_t, std::int64_t> staleness;  ///< Versions behind -> number of bucket pushes.
  std::int64_t updates = 0;                        ///< Optimizer applications, summed over buckets.
  std::int64_t dropped_pushes = 0;                 ///< Pushes that came too late to be used.
};

/// A parameter server, in a process of its own or inside a worker. The constructor publishes the
/// address in the store. From then on it serves, on threads of its own. Destruction stops it
/// without waiting.
class Server {
 public:
  virtual ~Server() = default;
  /// Ends running calls with an error, then stops serving. Idempotent.
  virtual ServerReport Stop() = 0;
  /// What it does now, and since when. Any thread may call it.
  virtual ActivityBoard::Entry Doing() const {
    return {.activity = {.kind = Activity::Kind::kServe}, .since = ActivityBoard::Clock::now()};
  }
  /// The job goes on without this worker. When it returns, the server has applied the last push of
  /// the worker that it will ever apply, no other worker waits for the worker, and its calls are
  /// refused. Idempotent. Throws `InternalError` unless the strategy's `drops_workers` is set.
  virtual void DropWorker(int worker) {
    throw InternalError("this server cannot go on without worker " + std::to_string(worker));
  }
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_SERVER_H_
