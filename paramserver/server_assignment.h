#ifndef RINGSIDE_PARAMSERVER_SERVER_ASSIGNMENT_H_
#define RINGSIDE_PARAMSERVER_SERVER_ASSIGNMENT_H_

#include <vector>

#include "common/bucket_plan.h"
#include "common/world.h"

namespace ringside {

/// The server of each bucket, so that the busiest link of the job carries as little as buckets of
/// these sizes allow. With n workers and M elements, the link of a dedicated server that owns m
/// elements carries n m each way, that of a worker whose own server owns m carries M + (n-2) m: its
/// gradients and parameters less what stays inside, and the others' of its server. Servers of one
/// kind get equal shares; n co-located and k < n dedicated ones approach those of BytePS (Jiang et
/// al., OSDI 2020): 2(n-1)/(n^2+kn-2k) for a dedicated server, (n-k)/(n^2+kn-2k) for a worker's.
/// Pure: the same on every rank.
std::vector<int> AssignToServers(const BucketPlan& plan, const World& world);

/// The share of the plan's elements that each of `servers` owns.
std::vector<double> ServerShares(const BucketPlan& plan, const std::vector<int>& server_of,
                                 int servers);

/// What a step sends in all buckets together, of one worker and as it travels.
struct StepBytes {
  double gradients = 0;
  double parameters = 0;
};

/// What the busier direction of the busiest link then carries in a step, in bytes: what whole
/// buckets leave of even shares.
double BusiestLinkBytes(const BucketPlan& plan, const std::vector<int>& server_of,
                        const World& world, const StepBytes& bytes);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SERVER_ASSIGNMENT_H_
