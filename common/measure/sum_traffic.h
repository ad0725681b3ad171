#ifndef RINGSIDE_COMMON_MEASURE_SUM_TRAFFIC_H_
#define RINGSIDE_COMMON_MEASURE_SUM_TRAFFIC_H_

#include <vector>

namespace ringside {

/// What one worker sends to another one.
struct Flow {
  int from = 0;
  int to = 0;
  double share = 0;  ///< Of M, the bytes of a step's gradients.
};

/// Flows that use the links at the same time.
using Phase = std::vector<Flow>;

/// Who sends how much to whom in one sum over all workers. A phase begins when the one before it
/// has ended, because it sends what that one received. A pipelined algorithm has one phase.
using SumTraffic = std::vector<Phase>;

}  // namespace ringside

#endif  // RINGSIDE_COMMON_MEASURE_SUM_TRAFFIC_H_
