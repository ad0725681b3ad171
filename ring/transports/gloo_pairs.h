#ifndef RINGSIDE_RING_TRANSPORTS_GLOO_PAIRS_H_
#define RINGSIDE_RING_TRANSPORTS_GLOO_PAIRS_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "ringside/common/base/file_descriptor.h"

namespace gloo::transport {
class Context;
namespace tcp {
class Device;
}  // namespace tcp
}  // namespace gloo::transport

namespace ringside {

/// Makes Gloo's device for an address. Throws `ConfigError` if that is no IP address, and Gloo's
/// exceptions.
std::shared_ptr<gloo::transport::tcp::Device> MakeGlooDevice(const std::string& address);

struct GlooPairsOptions {
  int rank = 0;
  int ranks = 1;
  std::chrono::milliseconds timeout;  ///< Of one operation.
};

/// Makes a context of Gloo's pairs in synchronous mode from connected sockets, by peer.
///
/// A pair that connects itself listens and takes the first connection that comes, whoever made it.
/// So these pairs get a connection whose other end has proved who it is. The context keeps the
/// device. Throws Gloo's exceptions, and `InternalError`.
std::shared_ptr<gloo::transport::Context> MakeGlooPairs(
    const std::shared_ptr<gloo::transport::tcp::Device>& device, const GlooPairsOptions& options,
    std::map<int, FileDescriptor> sockets);

}  // namespace ringside

#endif  // RINGSIDE_RING_TRANSPORTS_GLOO_PAIRS_H_
