#ifndef RINGSIDE_PARAMSERVER_PLAN_MESSAGE_H_
#define RINGSIDE_PARAMSERVER_PLAN_MESSAGE_H_

// Private to the .cc files of this folder that speak Protocol Buffers.

#include "paramserver/parameter_server.pb.h"
#include "paramserver/shard_table.h"

namespace ringside {

StartRequest ToRequest(const PlanInfo& plan);
/// Throws `RefusedError` for another version of the protocol.
PlanInfo ToPlanInfo(const StartRequest& request);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_PLAN_MESSAGE_H_
