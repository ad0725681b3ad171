#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_SERVER_ASSIGNMENT_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_SERVER_ASSIGNMENT_H_

#include <vector>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/world.h"

namespace ringside {

/// Chooses the server of each bucket, so that the busiest link of the job carries as few bytes as
/// buckets of these sizes allow. Take n workers and M elements. The link of a dedicated server with
/// m elements carries n m in each direction. The link of a worker whose server has m elements
/// carries M + (n-2) m: its own gradients and parameters except the part for its own server, and
/// those of other workers for its server. Servers of one kind get equal shares. With n co-located
/// and k < n dedicated servers the shares approach those of BytePS (Jiang et al., OSDI 2020):
/// 2(n-1)/(n^2+kn-2k) for a dedicated server, (n-k)/(n^2+kn-2k) for a co-located one. Pure, so it
/// is the same on every rank.
std::vector<int> AssignToServers(const BucketPlan& plan, const World& world);

/// The share of the plan's elements that each of `servers` owns.
std::vector<double> ServerShares(const BucketPlan& plan, const std::vector<int>& server_of,
                                 int servers);

/// The bytes of all buckets of one worker in a step, as sent.
struct StepBytes {
  double gradients = 0;
  double parameters = 0;
};

/// The bytes that the busiest link carries in a step, in its busier direction. They depend on how
/// evenly whole buckets can be shared.
double BusiestLinkBytes(const BucketPlan& plan, const std::vector<int>& server_of,
                        const World& world, const StepBytes& bytes);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_SERVER_ASSIGNMENT_H_
