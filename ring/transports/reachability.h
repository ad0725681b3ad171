#ifndef RINGSIDE_RING_TRANSPORTS_REACHABILITY_H_
#define RINGSIDE_RING_TRANSPORTS_REACHABILITY_H_

#include <span>
#include <string>
#include <vector>

#include "ringside/common/base/deadline.h"

namespace ringside {

/// Tries to connect to all endpoints but the one of `own` at the same time. Returns the indices of
/// those from whose host no answer came by the deadline. A refusal is an answer, so nobody needs to
/// listen there. What fails for want of sockets here says nothing of the others.
std::vector<int> UnreachableEndpoints(std::span<const std::string> endpoints, int own,
                                      const Deadline& deadline);

/// Whether this host's link that has the address of `endpoint` is down. False if no link has that
/// address, or nothing is known of it.
bool LinkIsDown(const std::string& endpoint);

}  // namespace ringside

#endif  // RINGSIDE_RING_TRANSPORTS_REACHABILITY_H_
