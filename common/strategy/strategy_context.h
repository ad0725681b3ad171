#ifndef RINGSIDE_COMMON_STRATEGY_STRATEGY_CONTEXT_H_
#define RINGSIDE_COMMON_STRATEGY_STRATEGY_CONTEXT_H_

#include "ringside/common/core/store.h"
#include "ringside/common/core/world.h"
#include "ringside/common/measure/recorder.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/common/optim/optimizer.h"
#include "ringside/common/optim/schedule.h"
#include "ringside/common/strategy/comm_options.h"
#include "ringside/common/strategy/strategy_options.h"

namespace ringside {

/// What a strategy gets at construction. Everything that is borrowed lives longer than the
/// strategy.
struct StrategyContext {
  const World& world;
  Store& store;
  const CommOptions& comm;
  /// The worker's optimizer over the whole flat space. Strategies whose servers apply the updates
  /// do not use it.
  Optimizer& optimizer;
  const Schedule& schedule;
  Recorder& recorder;
  Timeline& timeline;
  StrategyOptions options = {};
  /// The caller updates the parameters itself: `Await` leaves the sum of the gradients in the
  /// bucket's gradients, and the strategy touches neither parameters nor optimizer. Only for
  /// strategies with `StrategyTraits::leaves_sums`.
  bool caller_updates = false;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_STRATEGY_CONTEXT_H_
