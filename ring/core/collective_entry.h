#ifndef RINGSIDE_RING_CORE_COLLECTIVE_ENTRY_H_
#define RINGSIDE_RING_CORE_COLLECTIVE_ENTRY_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/core/store.h"
#include "ringside/common/core/world.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/common/strategy/strategy_options.h"
#include "ringside/ring/core/encodable_collective.h"

namespace ringside {

/// What a collective gets at construction. Everything that is borrowed lives longer than the
/// collective.
struct CollectiveContext {
  const World& world;
  Store& store;
  const CommOptions& comm;
  const StrategyOptions& options;
  /// Prefix of its keys in the store. Every collective of a job has its own.
  std::string prefix;
  /// Gets the chunks of sums that belong to a bucket. Null: nobody wants them. `MakeSum` sets it.
  Timeline* timeline = nullptr;
};

/// Wraps an encodable collective in one whose sums of gradients are encoded between ranks.
using EncodedCollectiveFactory =
    std::function<std::unique_ptr<Collective>(std::unique_ptr<EncodableCollective>)>;

/// Describes one way to sum over all ranks, and the strategy that sums gradients with it.
/// `AllReduceEntry` (ring/strategies/all_reduce_entry.h) makes that strategy. `ringside bench`
/// times only the sums. A value that owns its texts.
struct CollectiveEntry {
  std::string name;  ///< Also the strategy's name.
  std::string summary;
  Topology topology = Topology::kAllReduce;
  /// Makes the collective. All ranks call it; it may wait for them. Throws `CommError`.
  std::function<std::unique_ptr<Collective>(const CollectiveContext&)> make;
  MemoryKind memory = MemoryKind::kOrdinary;  ///< The best memory for the vectors that it sums.
  /// Like `make`, but sums across links are encoded between ranks
  /// (`AggregationScheme::kReencodedPerHop`). Empty: not supported.
  std::function<std::unique_ptr<Collective>(const CollectiveContext&,
                                            const EncodedCollectiveFactory&)>
      make_encoded = {};
  /// Returns why `make_encoded` cannot use such a codec; an empty text: it can.
  std::function<std::string(const CodecOptions&)> why_not_encoded = [](const CodecOptions&) {
    return std::string();
  };
  /// `AllReduceSum` also sums values that lie on the worker's GPU.
  bool sums_on_device = false;
  /// Makes the strategy that sums in this way. Empty: `AllReduceStrategy`, with `make` or
  /// `make_encoded`. Otherwise the codec is up to this strategy.
  std::function<std::unique_ptr<Strategy>(const StrategyContext&)> make_strategy = {};
  /// `StrategyTraits::leaves_sums` of `make_strategy`. `AllReduceStrategy` can.
  bool leaves_sums = false;

  // As in `StrategyEntry`.
  std::function<Cost(const CostInput&)> bound = AllReduceCost;
  std::function<SumTraffic(int workers)> traffic = {};
  std::vector<std::string> chooses_among = {};
  std::vector<OptionDeclaration> options = {kScheduleOption, kCodecOption, kErrorFeedbackOption};
  std::vector<RejectedKey> rejected_keys = {};
  /// A check in addition to the codec's.
  std::function<std::optional<OptionRefusal>(const StrategyOptions&, int workers, int servers)>
      check = {};
  std::function<std::string()> unavailable = {};
  std::string backend = {};
  std::function<TransportUse(const StrategyOptions&, int workers, int hosts)> transport =
      [](const StrategyOptions&, int, int) { return TransportUse{"tcp"}; };
  std::function<std::optional<OneHostNeed>(const StrategyOptions&)> needs_one_host = {};
  Ranks ranks = Ranks::kAnywhere;
  bool repeatable = true;
  std::string passes_links_by = {};
};

}  // namespace ringside

#endif  // RINGSIDE_RING_CORE_COLLECTIVE_ENTRY_H_
