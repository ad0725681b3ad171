#include "ringside/ring/transports/reachability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <string>
#include <vector>

#include "ringside/common/sockets/tcp_socket.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Reachability, ARefusalIsAnAnswer) {
  const FileDescriptor listener = ListenOnTcp("127.0.0.1");
  std::string closed;
  {
    const FileDescriptor other = ListenOnTcp("127.0.0.1");
    closed = TcpEndpointOf(other.get());
  }
  const std::vector<std::string> endpoints{"127.0.0.1:1", TcpEndpointOf(listener.get()), closed};
  EXPECT_THAT(UnreachableEndpoints(endpoints, 0, Deadline::After(std::chrono::seconds(20))),
              IsEmpty());
}

/// A socket whose queue is full, so that the kernel drops what asks for a connection. (Addresses
/// that no network has are no use: some machines have a gateway that answers for all.)
class SilentListener {
 public:
  SilentListener() : listener_(ListenOnTcp("127.0.0.1")) {
    EXPECT_EQ(::listen(listener_.get(), 0), 0);
    filler_ = FileDescriptor(ConnectTcp(endpoint(), Deadline::After(std::chrono::seconds(20))));
  }
  std::string endpoint() const { return TcpEndpointOf(listener_.get()); }

 private:
  const FileDescriptor listener_;
  FileDescriptor filler_;
};

TEST(Reachability, SilenceIsNone) {
  const FileDescriptor listener = ListenOnTcp("127.0.0.1");
  const SilentListener silent;
  const std::string nobody = silent.endpoint();
  const std::vector<std::string> endpoints{nobody, TcpEndpointOf(listener.get()), nobody, nobody};
  EXPECT_THAT(UnreachableEndpoints(endpoints, 3, Deadline::After(std::chrono::milliseconds(200))),
              ElementsAre(0, 2));
}

TEST(Reachability, AnAnswerCountsThatIsThereWhenTheTimeIsOver) {
  const FileDescriptor listener = ListenOnTcp("127.0.0.1");
  const std::vector<std::string> endpoints{"127.0.0.1:1", TcpEndpointOf(listener.get())};
  EXPECT_THAT(UnreachableEndpoints(endpoints, 0, Deadline::After(std::chrono::milliseconds(0))),
              IsEmpty());
}

TEST(Reachability, TheLinkOfTheHostItselfIsUp) {
  EXPECT_FALSE(LinkIsDown("127.0.0.1:4711"));
  EXPECT_FALSE(LinkIsDown("192.0.2.1:4711")) << "no link has this address";
}

}  // namespace
}  // namespace ringside
