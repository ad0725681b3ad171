#ifndef RINGSIDE_PARAMSERVER_WIRE_PLAN_MESSAGE_H_
#define RINGSIDE_PARAMSERVER_WIRE_PLAN_MESSAGE_H_

// Private to the .cc files of paramserver/ that speak Protocol Buffers.

#include "ringside/paramserver/wire/parameter_server.pb.h"
#include "ringside/paramserver/wire/server_plan.h"

namespace ringside {

StartRequest ToRequest(const PlanInfo& plan);
/// Throws `RefusedError` for another version of the protocol.
PlanInfo ToPlanInfo(const StartRequest& request);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WIRE_PLAN_MESSAGE_H_
