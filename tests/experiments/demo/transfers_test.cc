#include "ringside/experiments/demo/transfers.h"

#include <gtest/gtest.h>

#include "tests/experiments/demo/demo_testing.h"

namespace ringside {
namespace {

TEST(Transfers, JoinBothEndsOfAChunkOfARing) {
  const RecordedRun run = SampleRun::Ring(1);
  ASSERT_EQ(run.traffic.transfers.size(), 4U);
  const ChunkTransfer& first = run.traffic.transfers.front();
  EXPECT_EQ(first.from, 0);
  EXPECT_EQ(first.to, 1);
  EXPECT_EQ(first.offset, 0U);
  EXPECT_EQ(first.begin, 100);
  EXPECT_EQ(first.sent, 200);
  EXPECT_EQ(first.asked, 200);
  EXPECT_EQ(first.arrived, 500);
  EXPECT_EQ(first.bytes_sent, 16U);
  EXPECT_EQ(first.bytes_received, 16U);
}

TEST(Transfers, JoinWorkersAndServers) {
  const RecordedRun run = SampleRun::Servers(2);
  ASSERT_EQ(run.traffic.transfers.size(), 8U);
  const ChunkTransfer& push = run.traffic.transfers.front();
  EXPECT_EQ(push.from, 0);
  EXPECT_EQ(push.to, 2);
  EXPECT_EQ(push.sent, 150);
  EXPECT_EQ(push.arrived, 200);
  EXPECT_EQ(push.version, 0);
  ASSERT_EQ(run.traffic.updates.size(), 2U);
  EXPECT_EQ(run.traffic.updates[1].node, 2);
  EXPECT_EQ(run.traffic.updates[1].version, 2);
  EXPECT_EQ(run.traffic.updates[1].last, 1);
  // A server does not know where its piece begins, but the workers do.
  EXPECT_EQ(run.traffic.updates[0].offset, 0U);
}

TEST(Transfers, APushHasTheStalenessOfItsAnswer) {
  RecordedRun run = SampleRun::Servers(1);
  for (ChunkFile::Row& row : run.chunks.rows) {
    if (row.chunk.phase == ChunkPhase::kPull) row.chunk.staleness = 4;
  }
  for (const ChunkTransfer& transfer : JoinTraffic(run.chunks, 2).transfers) {
    EXPECT_EQ(transfer.staleness, 4) << ChunkPhaseName(transfer.phase);
  }
}

TEST(Transfers, KeepWhatOneEndRecorded) {
  RecordedRun run = SampleRun::Ring(1);
  std::erase_if(run.chunks.rows, [](const ChunkFile::Row& row) { return row.process == 1; });
  const ChunkTraffic traffic = JoinTraffic(run.chunks, 2);
  ASSERT_EQ(traffic.transfers.size(), 4U);
  int unsent = 0;
  for (const ChunkTransfer& transfer : traffic.transfers) unsent += transfer.begin < 0 ? 1 : 0;
  EXPECT_EQ(unsent, 2);
}

TEST(Transfers, EqualChunksArePairedInOrder) {
  ChunkFile file;
  const auto add = [&](int process, ChunkAction action, std::int64_t end) {
    TraceChunk chunk{.begin = end - 1,
                     .end = end,
                     .bytes = 4,
                     .bucket = 0,
                     .peer = 1 - process,
                     .phase = ChunkPhase::kGather,
                     .action = action};
    file.rows.push_back({process, chunk});
  };
  add(0, ChunkAction::kSend, 10);
  add(0, ChunkAction::kSend, 20);
  add(1, ChunkAction::kReceive, 15);
  add(1, ChunkAction::kReceive, 25);
  const ChunkTraffic traffic = JoinTraffic(file, 2);
  ASSERT_EQ(traffic.transfers.size(), 2U);
  EXPECT_EQ(traffic.transfers[0].sent, 10);
  EXPECT_EQ(traffic.transfers[0].arrived, 15);
  EXPECT_EQ(traffic.transfers[1].arrived, 25);
}

}  // namespace
}  // namespace ringside
