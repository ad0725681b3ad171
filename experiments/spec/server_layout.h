#ifndef RINGSIDE_EXPERIMENTS_SPEC_SERVER_LAYOUT_H_
#define RINGSIDE_EXPERIMENTS_SPEC_SERVER_LAYOUT_H_

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// Where a job's servers run.
struct ServerLayout {
  int dedicated = 0;  ///< Servers in their own processes.
  int colocated = 0;  ///< Servers inside workers 0, 1, ...

  int total() const { return dedicated + colocated; }
};

/// The layout for these numbers. Where the strategy puts a server into every worker, `servers` are
/// further dedicated ones; if there are at least as many as workers, the workers hold none.
ServerLayout LayoutServers(const StrategyEntry& entry, int workers, int servers, bool colocated);
/// The layout of a resolved spec; no servers for a strategy that the catalog lacks.
ServerLayout LayoutServers(const RunSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_SERVER_LAYOUT_H_
