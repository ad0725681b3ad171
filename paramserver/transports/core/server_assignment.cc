#include "ringside/paramserver/transports/core/server_assignment.h"

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

std::vector<double> ServerShares(const BucketPlan& plan, const std::vector<int>& server_of,
                                 int servers) {
  std::vector<double> shares(static_cast<std::size_t>(servers));
  for (int bucket = 0; bucket < plan.buckets(); ++bucket) {
    shares[static_cast<std::size_t>(server_of[static_cast<std::size_t>(bucket)])] +=
        static_cast<double>(plan.range(bucket).size()) / static_cast<double>(plan.elements());
  }
  return shares;
}

double BusiestLinkBytes(const BucketPlan& plan, const std::vector<int>& server_of,
                        const World& world, const StepBytes& bytes) {
  if (plan.elements() == 0) return 0;
  const auto [gradients, parameters] = bytes;
  const double others = world.workers - 1.0;
  const std::vector<double> shares = ServerShares(plan, server_of, world.servers);
  const bool without_server = world.colocated_servers < world.workers;
  double busiest = without_server ? std::max(gradients, parameters) : 0;
  for (int server = 0; server < world.servers; ++server) {
    const double share = shares[static_cast<std::size_t>(server)];
    if (server < world.dedicated_servers()) {
      busiest = std::max(busiest, world.workers * share * std::max(gradients, parameters));
      continue;
    }
    const double sent = (1 - share) * gradients + others * share * parameters;
    const double received = (1 - share) * parameters + others * share * gradients;
    busiest = std::max({busiest, sent, received});
  }
  return busiest;
}

}  // namespace ringside
