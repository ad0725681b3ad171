#ifndef RINGSIDE_TESTS_GRADING_PASSING_STRATEGY_H_
#define RINGSIDE_TESTS_GRADING_PASSING_STRATEGY_H_

#include "ringside/ring/algorithms/ring_algorithms.h"
#include "ringside/ring/collectives/link_collective_entry.h"
#include "ringside/ring/strategies/all_reduce_entry.h"

/// The ring under a name of its own. It passes the grading.
inline ringside::StrategyEntry OwnStrategy() {
  using ringside::kRingAlgorithm;
  ringside::StrategyEntry entry =
      ringside::AllReduceEntry(ringside::LinkCollectiveEntry(kRingAlgorithm));
  entry.name = "passing-strategy";
  return entry;
}

#endif  // RINGSIDE_TESTS_GRADING_PASSING_STRATEGY_H_
