// Strangers who come while a ring starts, with threads as ranks. They know where a rank listens
// before its peers do.
#include "ringside/ring/transports/peer_connections.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/ring/algorithms/link_algorithm.h"
#include "ringside/ring/transports/gloo_collective.h"
#include "tests/common/numbers.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;

CommOptions TestComm() { return {.address = "127.0.0.1", .token = "secret", .timeout = 5s}; }

/// Where this process listens, without the sockets that are closed meanwhile.
std::vector<std::string> OwnListeners() {
  std::vector<std::string> endpoints;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int file = std::stoi(entry.path().filename().string());
    int listens = 0;
    socklen_t bytes = sizeof(listens);
    if (getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) != 0 || listens == 0) {
      continue;
    }
    try {
      endpoints.push_back(TcpEndpointOf(file));
    } catch (const CommError&) {  // NOLINT(bugprone-empty-catch)
    }
  }
  return endpoints;
}

FileDescriptor Say(const std::string& endpoint, std::span<const std::byte> bytes) {
  const Deadline soon = Deadline::After(5s);
  FileDescriptor socket(ConnectTcp(endpoint, soon, IfRefused::kThrow));
  EXPECT_TRUE(SendAll(socket.get(), bytes, soon));
  return socket;
}

FileDescriptor SayNothing(const std::string& endpoint) { return Say(endpoint, {}); }

FileDescriptor SayHttp(const std::string& endpoint) {
  constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";
  return Say(endpoint, std::as_bytes(std::span(kRequest)));
}

/// A message of Gloo for a buffer that nobody has: bytes, kind, slot, offset, length, its offset.
FileDescriptor SayGloosHeader(const std::string& endpoint) {
  constexpr std::array<std::uint64_t, 6> kHeader{48 + (1ULL << 40), 1, 77, 0, 1ULL << 40, 0};
  return Say(endpoint, std::as_bytes(std::span(kHeader)));
}

/// The start of a greeting of rank 3, and a proof that somebody made up.
FileDescriptor SayWrongProof(const std::string& endpoint) {
  constexpr std::array<std::uint32_t, 11> kGreeting{0x47525352, 1, 3};
  return Say(endpoint, std::as_bytes(std::span(kGreeting)));
}

FileDescriptor Scan(const std::string& endpoint) {
  Say(endpoint, {});  // and leaves at once
  return {};
}

using Visit = FileDescriptor (*)(const std::string& endpoint);

/// A store in which strangers visit every listener before a rank publishes where it listens.
class VisitedStore : public InProcessStore {
 public:
  VisitedStore(Visit visit, int visits) : visit_(visit), visits_(visits) {}

  void Set(std::string_view key, std::string_view value) override {
    if (key.find("/published/") != std::string_view::npos) {
      const std::lock_guard lock(mutex_);
      for (const std::string& endpoint : OwnListeners()) {
        if (visited_.insert(endpoint).second) VisitOften(endpoint);
      }
    }
    InProcessStore::Set(key, value);
  }

  std::size_t visitors() const { return visitors_.size(); }

 private:
  void VisitOften(const std::string& endpoint) {
    try {
      for (int i = 0; i < visits_; ++i) visitors_.push_back(visit_(endpoint));
    } catch (const CommError&) {  // NOLINT(bugprone-empty-catch)
      // This listener is closed meanwhile.
    }
  }

  const Visit visit_;
  const int visits_;
  std::mutex mutex_;
  std::set<std::string> visited_;
  std::vector<FileDescriptor> visitors_;
};

/// A collective that starts under these visits sums.
void ExpectToSum(const LinkAlgorithm& algorithm, int world, VisitedStore& store) {
  const CommOptions comm = TestComm();
  RunRanks(world, [&](int rank) {
    GlooCollective collective(TestWorld(rank, world), store, comm, algorithm, "g");
    std::vector<float> data(1000, static_cast<float>(rank + 1));
    collective.AllReduceSum({data});
    EXPECT_EQ(data, std::vector<float>(data.size(), SumUpTo(world)));
    collective.AllGather({});
  });
  EXPECT_GE(store.visitors(), static_cast<std::size_t>(world)) << algorithm.name;
}

class StrangersTest : public testing::TestWithParam<Visit> {};

TEST_P(StrangersTest, KeepNoPeerOut) {
  for (const LinkAlgorithm* algorithm : LinkAlgorithms()) {
    VisitedStore store(GetParam(), 1);
    ExpectToSum(*algorithm, 4, store);
  }
}

std::string NameOf(const testing::TestParamInfo<Visit>& visit) {
  constexpr std::array kNames{"Silent", "Http", "GloosHeader", "WrongProof", "Scan"};
  return kNames.at(visit.index);
}

INSTANTIATE_TEST_SUITE_P(All, StrangersTest,
                         testing::Values(SayNothing, SayHttp, SayGloosHeader, SayWrongProof, Scan),
                         NameOf);

TEST(StrangersTest, MoreThanAListenerKeepsDoNotKeepAPeerOutEither) {
  VisitedStore store(SayNothing, 100);
  ExpectToSum(*LinkAlgorithms().front(), 2, store);
  EXPECT_GE(store.visitors(), 200U);
}

}  // namespace
}  // namespace ringside
