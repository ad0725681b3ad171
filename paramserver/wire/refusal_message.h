#ifndef RINGSIDE_PARAMSERVER_WIRE_REFUSAL_MESSAGE_H_
#define RINGSIDE_PARAMSERVER_WIRE_REFUSAL_MESSAGE_H_

// Private to the .cc files of paramserver/ that speak Protocol Buffers.

#include <cstddef>

#include "ringside/paramserver/wire/parameter_server.pb.h"
#include "ringside/paramserver/wire/refusal.h"

namespace ringside {

/// Each text is cut off after `max_text` bytes.
Refused ToMessage(const Refusal& refusal, std::size_t max_text);
/// The code is `kDiverged`, `kDropped` or `kAborted`: a message does not say more.
Refusal FromMessage(const Refused& message);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WIRE_REFUSAL_MESSAGE_H_
