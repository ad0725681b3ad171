#ifndef RINGSIDE_TESTS_GRADING_FAILING_STRATEGIES_H_
#define RINGSIDE_TESTS_GRADING_FAILING_STRATEGIES_H_

#include <cstdlib>
#include <string>

#include "graded_example.inc"
#include "ringside/common/strategy/none_strategy.h"

/// Strategies that do not pass the grading, one for each value of RINGSIDE_FAILING: the example of
/// docs/add-a-strategy.md as it is, or one whose workers claim to agree and never sum anything.
inline ringside::StrategyEntry OwnStrategy() {
  const char* name = std::getenv("RINGSIDE_FAILING");
  if (name == nullptr || name != std::string("alone")) return ringside::StoreSumEntry();
  ringside::StrategyEntry entry = ringside::kNoneEntry;
  entry.name = "alone";
  entry.traits.agreement = ringside::Agreement::kSynchronous;
  return entry;
}

#endif  // RINGSIDE_TESTS_GRADING_FAILING_STRATEGIES_H_
