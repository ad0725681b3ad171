#ifndef RINGSIDE_COMMON_STRATEGY_STRATEGY_ENTRY_H_
#define RINGSIDE_COMMON_STRATEGY_STRATEGY_ENTRY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/core/world.h"
#include "ringside/common/measure/bound.h"
#include "ringside/common/measure/sum_traffic.h"
#include "ringside/common/strategy/option.h"
#include "ringside/common/strategy/server.h"
#include "ringside/common/strategy/strategy.h"
#include "ringside/common/strategy/strategy_context.h"
#include "ringside/common/strategy/strategy_options.h"
#include "ringside/common/strategy/strategy_traits.h"

namespace ringside {

/// A key that a strategy does not read, and the reason why it has no meaning there.
struct RejectedKey {
  std::string key;
  std::string reason;
};

/// How bytes travel between the workers of a strategy.
struct TransportUse {
  std::string name;         ///< "grpc", "shm+tcp", "shm or tcp".
  std::string medium = {};  ///< How its bytes travel ("http2" of "grpc"); empty: `name`.
  bool takes_tls = false;   ///< Encrypts its bytes if the job has certificates.

  const std::string& medium_name() const { return medium.empty() ? name : medium; }
};

/// Why all processes of a strategy must be on one host.
struct OneHostNeed {
  std::string key = {};  ///< The option that causes it; empty: the strategy itself.
  std::string reason;    ///< "uds and shm need workers and servers on one host; take grpc"
};

/// One row of the table of strategies. The rest of Ringside reads only this about a strategy: the
/// command line's help, the conformance tests, `verify`, the matrix and the report. So a new
/// strategy is one file and one entry (docs/add-a-strategy.md). A value that owns its texts.
struct StrategyEntry {
  std::string name;
  std::string summary;
  StrategyTraits traits;
  std::function<std::unique_ptr<Strategy>(const StrategyContext&)> make;
  /// What `make` with these options does with a model on a GPU. Empty: `DeviceUse::kNone`.
  std::function<DeviceUse(const StrategyOptions&)> device_use = {};
  /// Empty where `traits.servers` is `kNone`.
  std::function<std::unique_ptr<Server>(const ServerContext&)> make_server = {};
  /// The time and the bytes that theory allows for one step. A pure function.
  std::function<Cost(const CostInput&)> bound = NoCost;
  /// Who sends how much to whom in one sum over all workers. Empty: nobody knows, or
  /// `traits.topology` says it. Without it an all-reduce has no bound on links that are shared or
  /// unequal. A pure function.
  std::function<SumTraffic(int workers)> traffic = {};
  /// If it sums in the way of another strategy, which it chooses for each sum: the names of all
  /// that it may choose. Then `traffic` is theirs.
  std::vector<std::string> chooses_among = {};
  /// The options that it reads. A value for any other option is refused.
  std::vector<OptionDeclaration> options = {};
  /// Some keys that it does not read, with the reasons, for error messages.
  std::vector<RejectedKey> rejected_keys = {};
  /// Returns why it cannot run with these values and numbers of workers and servers; absent: it
  /// can. Empty function: any values will do.
  std::function<std::optional<OptionRefusal>(const StrategyOptions&, int workers, int servers)>
      check = {};
  /// Returns why it cannot run on this machine, and what to do; empty text: it can. Empty function:
  /// it always can.
  std::function<std::string()> unavailable = {};
  std::string backend = {};  ///< The library that `unavailable` is about: "OpenMPI".
  /// The transport of its bytes between workers on `hosts` hosts. Empty: it sends nothing.
  std::function<TransportUse(const StrategyOptions&, int workers, int hosts)> transport = {};
  /// Why all processes must be on one host. Empty: any number of hosts will do.
  std::function<std::optional<OneHostNeed>(const StrategyOptions&)> needs_one_host = {};
  /// The most bytes that a bucket should have between hosts whose slowest link carries
  /// `bytes_per_s`; 0: any number. Empty: any number.
  std::function<std::size_t(const StrategyOptions&, const World&, double bytes_per_s)>
      largest_bucket = {};
  /// Why the links of an emulated network would not carry its bytes, as the end of a sentence that
  /// begins with "strategy X ". Empty: the links carry them.
  std::string passes_links_by = {};
  /// H: the number of steps from one sum to the next. Empty: 1.
  std::function<std::int64_t(const StrategyOptions&)> steps_per_sum = {};
  /// The same options, changed so that no gradient is dropped or weighted. Then settled parameters
  /// are the exact sum of all updates. Empty: they are, with any options.
  std::function<StrategyOptions(const StrategyOptions&)> losing_nothing = {};

  bool Declares(std::string_view option) const;
};

/// Makes the strategy of `entry`. Of the options in `context` it sees those that the entry
/// declares; reading another one throws `ConfigError` that names it. Throws `ConfigError` when the
/// entry has no `make`.
std::unique_ptr<Strategy> MakeStrategy(const StrategyEntry& entry, const StrategyContext& context);
/// The same for one of its servers and `make_server`.
std::unique_ptr<Server> MakeServer(const StrategyEntry& entry, const ServerContext& context);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_STRATEGY_ENTRY_H_
