#include "ringside/experiments/lab/link_counters.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <thread>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/lab/calibration.h"
#include "ringside/experiments/lab/iproute.h"
#include "ringside/experiments/system/network/dropped_packets.h"
#include "tests/experiments/lab/emulated_testing.h"

namespace ringside {
namespace {

TEST(TcpCounters, AreFoundByTheirNames) {
  const LinkCounters counters = ParseTcpCounters(
      "Ip: Forwarding OutSegs\nIp: 1 2\nTcp: InSegs OutSegs RetransSegs\nTcp: 7 50 3\nUdp: A\n");
  EXPECT_EQ(counters, (LinkCounters{50, 3, 0}));
}

TEST(TcpCounters, AnotherTextIsRefused) {
  for (const char* text :
       {"", "Tcp: OutSegs RetransSegs\n", "Tcp: OutSegs\nTcp: 1\n", "Tcp: RetransSegs\nTcp: 1\n",
        "Tcp: OutSegs RetransSegs\nTcp: 1\n", "Tcp: OutSegs RetransSegs\nTcp: 1 x\n"}) {
    EXPECT_THROW(ParseTcpCounters(text), MissingBackendError) << text;
  }
}

class LinkCountersTest : public EmulatedTest {};

TEST_F(LinkCountersTest, AreThoseOfTheHostsAndNotOfTheMachine) {
  const Lab lab(PlanNetwork(ParseNetwork("100Mbps,racks=2,uplink=50Mbps"), 4, 0));
  EXPECT_EQ(lab.nodes().size(), 7u) << "four hosts, two racks, one switch above them";
  EXPECT_EQ(ReadLinkCounters(lab).sent_segments, 0u) << "nothing has been sent yet";
  CalibrateLinks(lab);
  // What is still in the queues is answered after the end of its connection.
  LinkCounters after;
  bool quiet = false;
  for (int attempt = 0; attempt < 100 && !quiet; ++attempt) {
    after = ReadLinkCounters(lab);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    quiet = ReadLinkCounters(lab) - after == LinkCounters{};
  }
  EXPECT_TRUE(quiet) << "the machine's own segments are counted";
  EXPECT_GT(after.sent_segments, 0u);
}

/// Sends datagrams to nobody inside a namespace.
void SendDatagrams(const NetNamespace& where, int count) {
  const NamespaceScope inside(where.fd());
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in nobody{};
  nobody.sin_family = AF_INET;
  nobody.sin_port = htons(9);
  nobody.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::array<char, 1000> text{};
  for (int i = 0; i < count; ++i) {  // a refused port and a full queue are no matter
    ::sendto(socket.get(), text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&nobody),
             sizeof(nobody));
  }
}

TEST_F(LinkCountersTest, CountWhatAFullQueueDrops) {
  const NetNamespace where = NetNamespace::Make();
  RunIp(where, "link set dev lo up\n");
  RunTc(where, "qdisc add dev lo root tbf rate 8kbit burst 1600 limit 4000\n");
  EXPECT_EQ(DroppedPackets(where), 0u);
  constexpr int kDatagrams = 200;  // 1.7 Mbit; most of them find the queue full
  SendDatagrams(where, kDatagrams);
  EXPECT_GT(DroppedPackets(where), 0u);
  EXPECT_LE(DroppedPackets(where), 2u * kDatagrams) << "with the answers of the kernel";
}

}  // namespace
}  // namespace ringside
