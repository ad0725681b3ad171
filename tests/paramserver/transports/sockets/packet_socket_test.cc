#include "ringside/paramserver/transports/sockets/packet_socket.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "tests/common/few_descriptors.h"

namespace ringside {
namespace {

std::string NewName() { return LocalAddress(TransportTable().Named("shm")).address; }

TEST(PacketSocket, WaitsForRoomAtAListenerThatIsBusy) {
  const std::string name = NewName();
  const PacketSocket listener = PacketSocket::Listen(name);
  std::vector<PacketSocket> waiting;
  try {
    while (true) waiting.push_back(PacketSocket::Connect(name, Deadline::After({})));
  } catch (const CommError&) {  // NOLINT(bugprone-empty-catch)
    // There is no room, and no time to wait for it.
  }
  ASSERT_FALSE(waiting.empty());
  auto last = std::async(std::launch::async, [&] {
    return PacketSocket::Connect(name, Deadline::After(std::chrono::seconds(30)));
  });
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    bool lacks_room = true;
    EXPECT_TRUE(listener.Accept(lacks_room).open());
    EXPECT_FALSE(lacks_room);
  }
  EXPECT_TRUE(last.get().open());
}

TEST(PacketSocket, TellsThatThereIsNoDescriptorForAConnection) {
  const std::string name = NewName();
  const PacketSocket listener = PacketSocket::Listen(name);
  bool lacks_room = true;
  EXPECT_FALSE(listener.Accept(lacks_room).open());
  EXPECT_FALSE(lacks_room) << "nobody waits";
  PacketSocket worker;
  {
    const FewDescriptors few(1);
    worker = PacketSocket::Connect(name, Deadline::After(std::chrono::seconds(30)));
    EXPECT_FALSE(listener.Accept(lacks_room).open());
    EXPECT_TRUE(lacks_room);
  }
  EXPECT_TRUE(listener.Accept(lacks_room).open());
  EXPECT_FALSE(lacks_room);
}

TEST(PacketSocket, DoesNotWaitForAListenerThatIsGone) {
  const std::string name = NewName();
  { const PacketSocket listener = PacketSocket::Listen(name); }
  EXPECT_THROW(PacketSocket::Connect(name, Deadline::After(std::chrono::hours(1))), CommError);
}

}  // namespace
}  // namespace ringside
