#ifndef RINGSIDE_COMMON_STRATEGY_STRATEGY_ENTRY_H_
#define RINGSIDE_COMMON_STRATEGY_STRATEGY_ENTRY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/measure/bound.h"
#include "ringside/common/strategy/option.h"
#include "ringside/common/strategy/server.h"
#include "ringside/common/strategy/strategy.h"
#include "ringside/common/strategy/strategy_context.h"
#include "ringside/common/strategy/strategy_options.h"
#include "ringside/common/strategy/strategy_traits.h"

namespace ringside {

/// A key that a strategy does not read, and why it would make no sense there.
struct RejectedKey {
  std::string key;
  std::string reason;
};

/// How bytes travel between the workers of a strategy.
struct TransportUse {
  std::string name;         ///< "grpc", "shm+tcp", "shm or tcp".
  std::string medium = {};  ///< The transport below it ("tcp" of "grpc"); empty: `name`.

  const std::string& medium_name() const { return medium.empty() ? name : medium; }
};

/// Why all processes of a strategy must be on one host.
struct OneHostNeed {
  std::string key = {};  ///< The option that asks for it; empty: the strategy itself does.
  std::string reason;    ///< "uds and shm need workers and servers on one host; take grpc"
};

/// One line of the table of strategies: all that the rest of Ringside knows of a strategy. The
/// command line's help, the conformance tests, `verify`, the matrix and the report read it, so that
/// adding a strategy is one file and one entry (docs/add-a-strategy.md). A value that owns its
/// texts.
struct StrategyEntry {
  std::string name;
  std::string summary;
  StrategyTraits traits;
  std::function<std::unique_ptr<Strategy>(const StrategyContext&)> make;
  /// Empty where `traits.servers` is `kNone`.
  std::function<std::unique_ptr<Server>(const ServerContext&)> make_server = {};
  /// Time and bytes that theory allows for one step. Pure.
  std::function<Cost(const CostInput&)> bound = NoCost;
  /// The options that it reads. A value of any other option is refused.
  std::vector<OptionDeclaration> options = {};
  /// Some keys that it does not read, with the reasons. For errors.
  std::vector<RejectedKey> rejected_keys = {};
  /// Why it cannot run with these values in such a world, if it cannot. Empty: any values will do.
  std::function<std::optional<OptionRefusal>(const StrategyOptions&, int workers, int servers)>
      check = {};
  /// Why it cannot run on this machine, and what to do; empty text: it can. Empty: it always can.
  std::function<std::string()> unavailable = {};
  std::string backend = {};  ///< The library that `unavailable` is about: "OpenMPI".
  /// How its bytes travel between workers on so many hosts. Empty: it sends nothing.
  std::function<TransportUse(const StrategyOptions&, int workers, int hosts)> transport = {};
  /// Empty: hosts may be any number.
  std::function<std::optional<OneHostNeed>(const StrategyOptions&)> needs_one_host = {};
  /// Why the links of an emulated network would not carry its bytes: "strategy X " and this. Empty:
  /// they carry them.
  std::string passes_links_by = {};
  /// H: steps from one sum to the next. Empty: 1.
  std::function<std::int64_t(const StrategyOptions&)> steps_per_sum = {};
  /// The same options, changed so that no gradient is dropped or weighted: settled parameters are
  /// then the exact sum of all updates. Empty: they are, whatever the options.
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
