#include "paramserver/server_assignment.h"

#include <algorithm>
#include <cstddef>

namespace ringside {

std::vector<int> AssignToServers(const BucketPlan& plan, const World& world) {
  const BucketPlan::ServerCost dedicated{.fixed = 0,
                                         .per_element = static_cast<double>(world.workers)};
  const BucketPlan::ServerCost colocated{.fixed = static_cast<double>(plan.elements()),
                                         .per_element = world.workers - 2.0};
  std::vector<BucketPlan::ServerCost> costs(static_cast<std::size_t>(world.servers), colocated);
  std::fill_n(costs.begin(), world.dedicated_servers(), dedicated);
  return plan.AssignServers(costs);
}

}  // namespace ringside
