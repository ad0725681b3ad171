#ifndef RINGSIDE_EXPERIMENTS_SERVER_LAYOUT_H_
#define RINGSIDE_EXPERIMENTS_SERVER_LAYOUT_H_

#include "common/strategy_entry.h"
#include "experiments/run_spec.h"

namespace ringside {

/// Where a job's servers run.
struct ServerLayout {
  int dedicated = 0;  ///< In processes of their own.
  int colocated = 0;  ///< Inside workers 0, 1, ...

  int total() const { return dedicated + colocated; }
};

/// From what a spec asks for. Where an entry's servers are spare ones, every worker has one
/// besides, unless there are as many spare ones as workers: those then do it all.
ServerLayout LayoutServers(const StrategyEntry& entry, int workers, int servers, bool colocated);
/// Of a resolved spec; none for a strategy that is in no table.
ServerLayout LayoutServers(const RunSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SERVER_LAYOUT_H_
