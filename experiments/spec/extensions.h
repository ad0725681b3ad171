#ifndef RINGSIDE_EXPERIMENTS_SPEC_EXTENSIONS_H_
#define RINGSIDE_EXPERIMENTS_SPEC_EXTENSIONS_H_

#include <vector>

#include "ringside/common/codec/codec_entry.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/models/core/dataset_entry.h"
#include "ringside/models/core/model_entry.h"
#include "ringside/paramserver/server/consistency_entry.h"
#include "ringside/paramserver/transports/core/transport_entry.h"
#include "ringside/ring/core/collective_entry.h"

namespace ringside {

/// What a program adds to the built-in tables (`Main`, `Catalog`). Each collective and each
/// consistency adds the strategy that is based on it.
struct Extensions {
  std::vector<StrategyEntry> strategies = {};
  std::vector<CollectiveEntry> collectives = {};
  std::vector<ConsistencyEntry> consistencies = {};
  /// Pointers to constants that live as long as the program.
  std::vector<const CodecEntry*> codecs = {};
  /// Between workers and servers. Pointers to constants that live as long as the program.
  std::vector<const TransportEntry*> transports = {};
  std::vector<ModelEntry> models = {};
  std::vector<DatasetEntry> datasets = {};

  bool empty() const {
    return strategies.empty() && collectives.empty() && consistencies.empty() && codecs.empty() &&
           transports.empty() && models.empty() && datasets.empty();
  }
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_EXTENSIONS_H_
