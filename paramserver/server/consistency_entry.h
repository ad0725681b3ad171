#ifndef RINGSIDE_PARAMSERVER_SERVER_CONSISTENCY_ENTRY_H_
#define RINGSIDE_PARAMSERVER_SERVER_CONSISTENCY_ENTRY_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/server/consistency.h"

namespace ringside {

/// An entry of the table of consistencies: how servers decide when they apply gradients and answer
/// pushes, and the traits of the strategy with such servers. `ServerStrategyEntry`
/// (paramserver/strategies/ps_strategies.h) makes the strategy from it. The entry owns its texts.
struct ConsistencyEntry {
  std::string name;  ///< The name of the strategy: "ps-sync".
  std::string summary;
  Agreement agreement = Agreement::kSynchronous;
  /// Makes the consistency of one shard. `context` must live longer.
  std::function<std::unique_ptr<Consistency>(const ServerContext& context)> make;
  ServerPlacement servers = ServerPlacement::kAsAsked;
  /// A bucket is never cut: what a server decides about a push must hold for the whole bucket.
  bool whole_buckets = false;
  /// No answer waits for another worker. So a worker that gets none need not wait for the server to
  /// name one.
  bool answers_at_once = false;
  /// An update is the sum of all gradients of a step. So servers can leave the update to workers
  /// (`kServerUpdate`).
  bool may_only_sum = false;
  /// It goes on without a lost worker (`Consistency::OnDrop`).
  bool drops_workers = false;
  /// Its own options. All servers also read the options of the transport, the codec and the order.
  std::vector<OptionDeclaration> options = {};

  /// For how many pushes of a step an answer waits, of `workers`. Empty: for all if `agreement` is
  /// synchronous, otherwise for the worker's own.
  std::function<int(const StrategyOptions&, int workers)> awaited_pushes = {};

  // As in `StrategyEntry`.
  std::function<std::optional<OptionRefusal>(const StrategyOptions&, int workers, int servers)>
      check = {};
  std::function<StrategyOptions(const StrategyOptions&)> losing_nothing = {};
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SERVER_CONSISTENCY_ENTRY_H_
