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
  for (const PlanInfo::ServedSlice& slice : plan.slices) {
    ServedSlice& served = *request.add_slices();
    served.set_index(slice.index);
    served.set_elements(slice.elements);
    served.set_bucket(slice.bucket);
    served.set_leads(slice.leads);
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
                .step = request.step()};
  for (const ServedSlice& slice : request.slices()) {
    plan.slices.push_back({slice.index(), slice.elements(), slice.bucket(), slice.leads()});
  }
  return plan;
}

}  // namespace ringside
