// What is set on a socket, read back from the kernel.
#include "ringside/common/sockets/tcp_socket.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>
#include <string>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/file_descriptor.h"

namespace ringside {
namespace {

int OptionOf(const FileDescriptor& socket, int name, int level = IPPROTO_TCP) {
  int value = -1;
  socklen_t bytes = sizeof(value);
  EXPECT_EQ(getsockopt(socket.get(), level, name, &value, &bytes), 0);
  return value;
}

TEST(TcpSocket, HasTheOptionsThatAreSet) {
  const FileDescriptor listener = ListenOnTcp("127.0.0.1");
  const Deadline deadline = Deadline::After(std::chrono::seconds(30));
  const FileDescriptor socket(ConnectTcp(TcpEndpointOf(listener.get()), deadline));
  EXPECT_NE(OptionOf(socket, TCP_NODELAY), 0);
  EXPECT_NE(OptionOf(socket, TCP_NOTSENT_LOWAT), 48 << 10);
  LimitUnsent(socket.get(), 48 << 10);
  EXPECT_EQ(OptionOf(socket, TCP_NOTSENT_LOWAT), 48 << 10);
  EXPECT_TRUE(IsWithinHost(socket.get()));
}

TEST(TcpSocket, AsksWhetherTheOtherEndIsStillThere) {
  const FileDescriptor listener = ListenOnTcp("127.0.0.1");
  const std::string endpoint = TcpEndpointOf(listener.get());
  const Deadline deadline = Deadline::After(std::chrono::seconds(30));
  const FileDescriptor socket(ConnectTcp(endpoint, deadline));
  EXPECT_EQ(OptionOf(socket, SO_KEEPALIVE, SOL_SOCKET), 1);
  EXPECT_EQ(OptionOf(socket, TCP_KEEPIDLE), 10);
  EXPECT_EQ(OptionOf(socket, TCP_KEEPINTVL), 5);
  EXPECT_EQ(OptionOf(socket, TCP_KEEPCNT), 6);
  const DilationScope dilation(10);
  const FileDescriptor dilated(ConnectTcp(endpoint, deadline));
  EXPECT_EQ(OptionOf(dilated, TCP_KEEPIDLE), 100);
}

}  // namespace
}  // namespace ringside
