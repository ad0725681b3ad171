#include "ringside/experiments/job/links/link_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/sockets/tcp_socket.h"

namespace ringside {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

Deadline Soon() { return Deadline::After(std::chrono::seconds(20)); }

LinkProbe Probe(int host, int hosts, const std::string& token = std::string(64, 'a')) {
  LinkProbe probe{.host = host, .measures = true, .address = "127.0.0.1", .token = token};
  for (int other = 0; other < hosts; ++other)
    probe.hosts.push_back("node-" + std::to_string(other));
  return probe;
}

/// Reads a key without waiting.
auto ReaderOf(InProcessStore& store) {
  return [&store](const std::string& key) -> std::optional<std::string> {
    try {
      return store.Get(key, Deadline::After(std::chrono::milliseconds(1)));
    } catch (const CommError&) {
      return std::nullopt;
    }
  };
}

TEST(LinkProbe, EveryHostHasARate) {
  for (const int hosts : {2, 3}) {
    InProcessStore store;
    EXPECT_FALSE(MeasuredLinks(hosts, ReaderOf(store)));
    std::vector<std::future<void>> running;
    for (int host = 0; host < hosts; ++host) {
      running.push_back(std::async(std::launch::async, [&store, host, hosts] {
        MeasureLinks(Probe(host, hosts), store, Soon());
      }));
    }
    LinkProbe waits = Probe(1, hosts);
    waits.measures = false;
    MeasureLinks(waits, store, Soon());
    for (auto& part : running) part.get();
    const auto rates = MeasuredLinks(hosts, ReaderOf(store));
    ASSERT_TRUE(rates);
    EXPECT_THAT(*rates, SizeIs(hosts));
    EXPECT_THAT(*rates, Each(Gt(1e6)));
  }
}

TEST(LinkProbe, AHostThatDoesNotComeIsNamed) {
  InProcessStore store;
  EXPECT_THAT(
      [&] { MeasureLinks(Probe(0, 2), store, Deadline::After(std::chrono::milliseconds(300))); },
      ThrowsMessage<CommError>(HasSubstr("node-1")));
}

// Whoever connects first is not measured: strangers do not know the token.
TEST(LinkProbe, AStrangerIsNotListenedTo) {
  InProcessStore store;
  auto first =
      std::async(std::launch::async, [&store] { MeasureLinks(Probe(0, 2), store, Soon()); });
  const FileDescriptor stranger(ConnectTcp(store.Get("links/at/0", Soon()), Soon()));
  const std::vector<std::byte> noise(4096, std::byte{7});
  static_cast<void>(SendAll(stranger.get(), noise, Soon()));  // it may be refused before the end
  MeasureLinks(Probe(1, 2), store, Soon());
  first.get();
  ASSERT_TRUE(MeasuredLinks(2, ReaderOf(store)));
}

TEST(LinkProbe, AnotherTokenIsRefused) {
  InProcessStore store;
  auto first = std::async(std::launch::async, [&store] {
    MeasureLinks(Probe(0, 2), store, Deadline::After(std::chrono::seconds(2)));
  });
  EXPECT_THROW(MeasureLinks(Probe(1, 2, std::string(64, 'b')), store,
                            Deadline::After(std::chrono::seconds(2))),
               CommError);
  EXPECT_THROW(first.get(), CommError);
  EXPECT_FALSE(MeasuredLinks(2, ReaderOf(store)));
}

}  // namespace
}  // namespace ringside
