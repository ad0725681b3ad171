#include "ringside/paramserver/wire/plan_message.h"

#include "ringside/paramserver/wire/refusal.h"
#include "ringside/paramserver/wire/wire.h"

namespace ringside {

StartRequest ToRequest(const PlanInfo& plan) {
  StartRequest request;
  request.set_protocol(FrameHeader::kProtocol);
  request.set_worker(plan.worker);
  request.set_workers(plan.workers);
  request.set_server(plan.server);
  request.set_servers(plan.servers);
  request.set_plan_fingerprint(plan.fingerprint);
  request.set_step(plan.step);
  for (const PlanInfo::ServedBucket& bucket : plan.buckets) {
    ServedBucket& served = *request.add_buckets();
    served.set_index(bucket.index);
    served.set_elements(bucket.elements);
  }
  return request;
}

PlanInfo ToPlanInfo(const StartRequest& request) {
  if (request.protocol() != FrameHeader::kProtocol) {
    throw RefusedError(RefusalCode::kInvalid, "not a StartRequest of this protocol version");
  }
  PlanInfo plan{.worker = request.worker(),
                .workers = request.workers(),
                .server = request.server(),
                .servers = request.servers(),
                .fingerprint = request.plan_fingerprint(),
                .step = request.step(),
                .buckets = {}};
  for (const ServedBucket& bucket : request.buckets()) {
    plan.buckets.push_back({bucket.index(), bucket.elements()});
  }
  return plan;
}

}  // namespace ringside
