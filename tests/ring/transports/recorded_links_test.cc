#include "ringside/ring/transports/recorded_links.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <tuple>

#include "ringside/ring/algorithms/link_algorithm.h"
#include "ringside/ring/algorithms/ring_algorithms.h"
#include "tests/common/thread_ranks.h"
#include "tests/ring/algorithms/queue_links.h"

namespace ringside {
namespace {

constexpr std::size_t kElements = 200'003;  // several segments a rank
constexpr std::size_t kOffset = 1'000;

/// The chunks that each rank records of one sum.
std::vector<std::vector<ChunkEvent>> RecordSum(const LinkAlgorithm& algorithm, int world) {
  QueueNetwork network;
  std::vector<std::vector<ChunkEvent>> chunks(static_cast<std::size_t>(world));
  std::vector<int> workers(static_cast<std::size_t>(world));
  std::iota(workers.begin(), workers.end(), 0);
  RunRanks(world, [&](int rank) {
    QueueLinks links(network, rank);
    Timeline timeline(TimelineCapacity{.spans = 1, .chunks = 10'000});
    std::vector<float> data(kElements, 1.0F);
    std::vector<std::byte> scratch(Links::kSegmentBytes);
    const BucketMessage message{.data = data, .offset = kOffset, .bucket = 2, .step = 5};
    {
      RecordedLinks recorded(links, {.timeline = timeline,
                                     .message = message,
                                     .memory = std::as_bytes(std::span(data)),
                                     .workers = workers});
      algorithm.all_reduce(recorded, rank, world, data, scratch);
    }
    chunks[static_cast<std::size_t>(rank)] = timeline.TakeChunks();
    std::size_t sent = 0;
    for (const ChunkEvent& chunk : chunks[static_cast<std::size_t>(rank)]) {
      if (chunk.action == ChunkAction::kSend) sent += chunk.bytes;
    }
    EXPECT_EQ(sent, links.sent()) << algorithm.name;
  });
  return chunks;
}

class RecordedLinksTest : public testing::TestWithParam<int> {};

TEST_P(RecordedLinksTest, ARingHasAnEventForEachStepInEachDirection) {
  const int world = GetParam();
  const auto steps = static_cast<std::size_t>(2 * (world - 1));
  for (const auto& chunks : RecordSum(kRingAlgorithm, world)) {
    EXPECT_EQ(chunks.size(), 2 * steps);
    std::size_t reducing = 0;
    for (const ChunkEvent& chunk : chunks) {
      EXPECT_EQ(chunk.bucket, 2);
      EXPECT_EQ(chunk.step, 5);
      EXPECT_EQ(chunk.bytes, chunk.elements * sizeof(float));
      EXPECT_GE(chunk.offset, kOffset);
      EXPECT_LE(chunk.offset + chunk.elements, kOffset + kElements);
      EXPECT_LE(chunk.begin, chunk.end);
      reducing += chunk.phase == ChunkPhase::kReduceScatter ? 1 : 0;
    }
    EXPECT_EQ(reducing, steps);
  }
}

TEST_P(RecordedLinksTest, EverySendHasItsReceive) {
  const int world = GetParam();
  for (const LinkAlgorithm* algorithm : LinkAlgorithms()) {
    // By sender, receiver, phase and elements: sent minus received.
    std::map<std::tuple<int, int, ChunkPhase, std::size_t>, std::int64_t> elements;
    const auto all = RecordSum(*algorithm, world);
    for (int rank = 0; rank < world; ++rank) {
      for (const ChunkEvent& chunk : all[static_cast<std::size_t>(rank)]) {
        const bool sends = chunk.action == ChunkAction::kSend;
        for (std::size_t at = chunk.offset; at < chunk.offset + chunk.elements; at += 1'000) {
          // The element that begins each thousand, so that chunks need not be cut alike.
          const std::size_t thousand = (at + 999) / 1'000;
          if (thousand * 1'000 >= chunk.offset + chunk.elements) continue;
          elements[{sends ? rank : chunk.peer, sends ? chunk.peer : rank, chunk.phase, thousand}] +=
              sends ? 1 : -1;
        }
      }
    }
    EXPECT_FALSE(elements.empty());
    for (const auto& [key, difference] : elements) EXPECT_EQ(difference, 0) << algorithm->name;
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, RecordedLinksTest, testing::Values(2, 3, 4, 7));

TEST(RecordedLinks, ChunksOfAFailedSumAreKept) {
  class FailingLinks : public Links {
   public:
    std::size_t window_bytes() const override { return kLeastWindowBytes; }
    void Send(int, std::span<const std::byte>, ChunkPhase) override {}
    void Receive(int, std::span<std::byte>, ChunkPhase) override { throw std::runtime_error("x"); }
  };
  FailingLinks links;
  Timeline timeline(TimelineCapacity{.spans = 1, .chunks = 10});
  std::vector<float> data(8);
  const std::vector<int> workers{0, 1};
  const BucketMessage message{.data = data, .bucket = 0};
  std::vector<std::byte> scratch(Links::kSegmentBytes);
  EXPECT_THROW(
      {
        RecordedLinks recorded(links, {.timeline = timeline,
                                       .message = message,
                                       .memory = std::as_bytes(std::span(data)),
                                       .workers = workers});
        kRingAlgorithm.all_reduce(recorded, 0, 2, data, scratch);
      },
      std::runtime_error);
  EXPECT_EQ(timeline.TakeChunks().size(), 1U);
}

}  // namespace
}  // namespace ringside
