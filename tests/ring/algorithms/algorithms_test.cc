// The algorithms alone, over queues with exactly the window they may count on: sums, bytes, no
// circle of waiting ranks, for any world.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <numeric>
#include <vector>

#include "ringside/common/codec/codec.h"
#include "ringside/common/codec/half_codec.h"
#include "ringside/common/codec/int8_codec.h"
#include "ringside/ring/algorithms/halving_doubling.h"
#include "ringside/ring/algorithms/link_algorithm.h"
#include "ringside/ring/algorithms/pairwise.h"
#include "ringside/ring/algorithms/recursive_doubling.h"
#include "ringside/ring/algorithms/ring_algorithms.h"
#include "ringside/ring/algorithms/tree_all_reduce.h"
#include "ringside/ring/algorithms/tree_topology.h"
#include "ringside/ring/transports/encoded_links.h"
#include "tests/common/numbers.h"
#include "tests/common/thread_ranks.h"
#include "tests/ring/algorithms/queue_links.h"

namespace ringside {
namespace {

std::vector<float> Contribution(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(i % 97) + 100.0F * static_cast<float>(rank);
  }
  return values;
}

float ExpectedSum(std::size_t i, int world) {
  return static_cast<float>(world) * static_cast<float>(i % 97) + 100.0F * SumUpTo(world - 1);
}

struct Moved {
  std::size_t sent = 0;
  std::size_t received = 0;
};

/// Runs and checks one all-reduce; what every rank moved.
std::vector<Moved> CheckAllReduce(const LinkAlgorithm& algorithm, int world, std::size_t count) {
  QueueNetwork network;
  std::vector<Moved> moved(static_cast<std::size_t>(world));
  RunRanks(world, [&](int rank) {
    QueueLinks links(network, rank);
    std::vector<float> data = Contribution(rank, count);
    std::vector<std::byte> scratch(Links::kSegmentBytes);
    algorithm.all_reduce(links, rank, world, data, scratch);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(data[i], ExpectedSum(i, world)) << i;
    moved[static_cast<std::size_t>(rank)] = {links.sent(), links.received()};
  });
  EXPECT_EQ(network.left(), 0U);
  return moved;
}

/// Writes down what a rank does. Its peer has always sent enough.
class RecordingLinks : public Links {
 public:
  std::size_t window_bytes() const override { return kLeastWindowBytes; }
  void Send(int, std::span<const std::byte>, ChunkPhase) override { calls_ += 's'; }
  void Receive(int, std::span<std::byte>, ChunkPhase) override { calls_ += 'r'; }
  const std::string& calls() const { return calls_; }

 private:
  std::string calls_;
};

std::string CallsOfAnExchange(std::size_t segments, bool several_peers) {
  RecordingLinks links;
  std::vector<std::byte> data(segments * Links::kSegmentBytes);
  PairExchange{links, 1, several_peers}.Run(data, data, {});
  return links.calls();
}

TEST(PairExchange, SendsAWindowAhead) {
  EXPECT_EQ(CallsOfAnExchange(5, false), "sssrsrsrrr");
  EXPECT_EQ(CallsOfAnExchange(2, false), "ssrr");
}

TEST(PairExchange, ALongMessageToOneOfSeveralPeersWaitsForThePeersFirstSegment) {
  EXPECT_EQ(CallsOfAnExchange(5, true), "srsssrsrrr");
  EXPECT_EQ(CallsOfAnExchange(2, true), "ssrr") << "a window holds all of it";
}

class AlgorithmTest : public testing::TestWithParam<int> {};

TEST_P(AlgorithmTest, RingSumsAndMovesWhatTheoryAsks) {
  const int world = GetParam();
  const auto n = static_cast<std::size_t>(world);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1, 12'000 * n}) {
    const auto moved = CheckAllReduce(kRingAlgorithm, world, count);
    if (count % n != 0) continue;
    for (const Moved& rank : moved) {
      EXPECT_EQ(rank.sent, 2 * (n - 1) * (count / n) * sizeof(float));
      EXPECT_EQ(rank.received, rank.sent);
    }
  }
}

TEST_P(AlgorithmTest, RingPipelinesChunksOfManySegments) {
  const int world = GetParam();
  const std::size_t count = static_cast<std::size_t>(world) * 5 * Links::kSegmentBytes / 4 + 3;
  CheckAllReduce(kRingAlgorithm, world, count);
}

TEST_P(AlgorithmTest, HalvingDoublingSumsAndMovesWhatTheoryAsks) {
  const int world = GetParam();
  const auto n = static_cast<std::size_t>(world);
  const std::size_t active = std::bit_floor(n);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1, 40'000 * n}) {
    const auto moved = CheckAllReduce(kHalvingDoublingAlgorithm, world, count);
    if (count % active != 0) continue;
    const std::size_t bytes = count * sizeof(float);
    const std::size_t exchanged = 2 * (active - 1) * (bytes / active);
    EXPECT_EQ(moved.back().sent, exchanged);
    EXPECT_EQ(moved.front().sent, n == active ? exchanged : bytes);
    EXPECT_EQ(moved[1].sent, n == active ? exchanged : exchanged + bytes);
  }
}

TEST_P(AlgorithmTest, RecursiveDoublingSumsAndMovesWhatTheoryAsks) {
  const int world = GetParam();
  const auto n = static_cast<std::size_t>(world);
  const std::size_t doublings = std::bit_width(n) - 1U;
  const bool folds = !std::has_single_bit(n);
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1, std::size_t{100'000}}) {
    const auto moved = CheckAllReduce(kRecursiveDoublingAlgorithm, world, count);
    const std::size_t bytes = count * sizeof(float);
    EXPECT_EQ(moved.back().sent, doublings * bytes);
    EXPECT_EQ(moved.front().sent, folds ? bytes : doublings * bytes);
    EXPECT_EQ(moved[1].sent, (doublings + (folds ? 1 : 0)) * bytes);
  }
}

TEST_P(AlgorithmTest, TreeSumsAndMovesWhatTheoryAsks) {
  const int world = GetParam();
  const auto n = static_cast<std::size_t>(world);
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1, std::size_t{300'000}}) {
    const std::size_t bytes = count * sizeof(float);
    std::size_t sent = 0;
    // A message too small to be split goes along one tree, with up to three neighbours.
    const std::size_t most = count < 1000 ? 3 * bytes : 2 * bytes;
    for (const Moved& rank : CheckAllReduce(kTreeAlgorithm, world, count)) {
      sent += rank.sent;
      EXPECT_LE(rank.sent, most);
      EXPECT_LE(rank.received, most);
    }
    EXPECT_EQ(sent, 2 * (n - 1) * bytes);
  }
}

TEST_P(AlgorithmTest, SumsThatTravelEncodedAreExactWhereNothingIsRounded) {
  const int world = GetParam();
  const auto n = static_cast<std::size_t>(world);
  for (const LinkAlgorithm* algorithm : LinkAlgorithms()) {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1, std::size_t{200'003}}) {
      QueueNetwork network;
      RunRanks(world, [&](int rank) {
        QueueLinks links(network, rank);
        std::vector<float> data(count);
        for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<float>(i % 7) * (rank + 1.0F);
        const auto codec = MakeCodec({.entry = &kFp16Codec}, rank, count);
        EncodedLinks::Workspace workspace;
        std::vector<std::byte> scratch(Links::kSegmentBytes);
        EncodedLinks encoded(links, world, {data}, *codec, workspace);
        algorithm->all_reduce(encoded, rank, world, encoded.wire(), scratch);
        encoded.Finish();
        const float factor = static_cast<float>(world) * static_cast<float>(world + 1) / 2;
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(data[i], static_cast<float>(i % 7) * factor) << algorithm->name << " " << i;
        }
      });
      EXPECT_EQ(network.left(), 0U);
    }
  }
}

TEST(EncodedLinksTest, BytesThatNoCodecWroteAreAnErrorThatNamesTheirSender) {
  QueueNetwork network;
  const float negative_scale = -1;
  for (const bool adding : {false, true}) {
    QueueLinks under(network, 0);
    std::vector<float> data(100);
    const auto codec = MakeCodec({.entry = &kInt8Codec}, 0, data.size());
    EncodedLinks::Workspace workspace;
    EncodedLinks links(under, 2, {data}, *codec, workspace);
    const auto image = std::as_writable_bytes(links.wire());
    std::vector<std::byte> message(image.size());
    std::memcpy(message.data(), &negative_scale, sizeof(negative_scale));
    network.Send(1, 0, message);
    std::vector<std::byte> scratch(Links::kSegmentBytes);
    try {
      adding ? links.ReceiveAdd(1, image, scratch, ChunkPhase::kReduce)
             : links.Receive(1, image, ChunkPhase::kBroadcast);
      ADD_FAILURE() << "a negative scale was read";
    } catch (const CommError& error) {
      EXPECT_EQ(error.peer(), "worker 1");
    }
  }
}

TEST_P(AlgorithmTest, PeersAreMutual) {
  const int world = GetParam();
  for (const LinkAlgorithm* algorithm : LinkAlgorithms()) {
    for (int rank = 0; rank < world; ++rank) {
      for (const int peer : algorithm->peers(rank, world)) {
        ASSERT_NE(peer, rank) << algorithm->name;
        EXPECT_THAT(algorithm->peers(peer, world), testing::Contains(rank)) << algorithm->name;
      }
    }
  }
}

/// One after the other over the same links, as in training: a rank may be in the next sum while
/// others finish the one before.
TEST_P(AlgorithmTest, AllAlgorithmsGiveTheSameBitsOnAllRanks) {
  const int world = GetParam();
  constexpr std::size_t kCount = 70'001;
  QueueNetwork network;
  std::vector<std::vector<float>> results(static_cast<std::size_t>(world));
  RunRanks(world, [&](int rank) {
    QueueLinks links(network, rank);
    std::vector<std::byte> scratch(Links::kSegmentBytes);
    std::vector<float>& result = results[static_cast<std::size_t>(rank)];
    for (const LinkAlgorithm* algorithm : LinkAlgorithms()) {
      std::vector<float> data(kCount);
      for (std::size_t i = 0; i < kCount; ++i) {
        data[i] = 1.0F / static_cast<float>(i + 3 * static_cast<std::size_t>(rank) + 1);
      }
      algorithm->all_reduce(links, rank, world, data, scratch);
      result.insert(result.end(), data.begin(), data.end());
    }
  });
  EXPECT_EQ(network.left(), 0U);
  for (const auto& result : results) ASSERT_EQ(result, results[0]);
}

TEST_P(AlgorithmTest, DoubleTreeIsTwoTreesThatShareNoInnerNode) {
  const int world = GetParam();
  std::vector<int> inner(static_cast<std::size_t>(world), 0);
  for (const std::size_t tree : {0U, 1U}) {
    int roots = 0;
    for (int rank = 0; rank < world; ++rank) {
      const TreeNeighbors place = DoubleTree(rank, world)[tree];
      EXPECT_LE(place.children.size(), 2U);
      inner[static_cast<std::size_t>(rank)] += place.children.empty() ? 0 : 1;
      for (const int child : place.children) {
        EXPECT_EQ(DoubleTree(child, world)[tree].parent, rank);
      }
      roots += place.parent < 0 ? 1 : 0;
      int height = 0;  // to the root, which every rank reaches
      for (int up = place.parent; up >= 0; up = DoubleTree(up, world)[tree].parent) ++height;
      EXPECT_LE(height, std::bit_width(static_cast<unsigned>(world)) - 1);
    }
    EXPECT_EQ(roots, 1);
  }
  EXPECT_THAT(inner, testing::Each(testing::Le(1)));
}

TEST_P(AlgorithmTest, BroadcastReachesEveryRankFromAnyRoot) {
  const int world = GetParam();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, 3 * Links::kSegmentBytes + 1}) {
    const int root = world - 1;
    QueueNetwork network;
    RunRanks(world, [&](int rank) {
      QueueLinks links(network, rank);
      std::vector<std::byte> data(bytes, rank == root ? std::byte{7} : std::byte{0});
      RingBroadcast(links, rank, world, root, data);
      EXPECT_EQ(data, std::vector<std::byte>(bytes, std::byte{7}));
    });
    EXPECT_EQ(network.left(), 0U);
  }
}

TEST_P(AlgorithmTest, AllGatherHoldsBlocksByRank) {
  const int world = GetParam();
  const std::size_t bytes = 4 * Links::kSegmentBytes + 5;
  QueueNetwork network;
  RunRanks(world, [&](int rank) {
    QueueLinks links(network, rank);
    std::vector<std::byte> blocks(bytes * static_cast<std::size_t>(world));
    std::fill_n(blocks.begin() + static_cast<std::ptrdiff_t>(bytes) * rank, bytes,
                static_cast<std::byte>(rank + 1));
    RingAllGather(links, rank, world, blocks);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      ASSERT_EQ(blocks[i], static_cast<std::byte>(i / bytes + 1)) << i;
    }
  });
  EXPECT_EQ(network.left(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Worlds, AlgorithmTest, testing::Values(2, 3, 4, 5, 7, 8, 13),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace ringside
