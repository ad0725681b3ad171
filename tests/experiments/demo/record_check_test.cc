#include "ringside/experiments/demo/record_check.h"

#include <gtest/gtest.h>

#include <functional>

#include "ringside/experiments/demo/order_check.h"
#include "ringside/ring/algorithms/links.h"
#include "tests/experiments/demo/demo_testing.h"

namespace ringside {
namespace {

std::string FirstProblem(const RecordedRun& run) {
  const RecordCheck check = CheckRecord(run);
  return check.problems.empty() ? "" : check.problems.front();
}

/// The first problem after a change of one event.
std::string ProblemAfter(RecordedRun run, std::size_t row,
                         const std::function<void(TraceChunk&)>& change) {
  change(run.chunks.rows[row].chunk);
  run.traffic = JoinTraffic(run.chunks, run.workers());
  return FirstProblem(run);
}

TEST(RecordCheck, FindsNothingWrongInATrueRecord) {
  EXPECT_EQ(FirstProblem(SampleRun::Ring(3)), "");
  EXPECT_EQ(FirstProblem(SampleRun::Servers(3)), "");
  EXPECT_EQ(FirstProblem(SampleRun::Slices(3)), "");
}

TEST(RecordCheck, KnowsHowLargeAMessageIs) { EXPECT_EQ(kMostMessageBytes, Links::kSegmentBytes); }

TEST(RecordCheck, TellsThatTheFileWasChanged) {
  RecordedRun run = SampleRun::Ring(1);
  run.chunks.changed = true;
  EXPECT_NE(FirstProblem(run).find("checksum"), std::string::npos);
}

TEST(RecordCheck, AddsUp) {
  const RecordCheck ring = CheckRecord(SampleRun::Ring(2));
  EXPECT_EQ(ring.nodes[0].at(ChunkPhase::kReduceScatter).bytes_sent, 32U);
  EXPECT_EQ(ring.nodes[1].at(ChunkPhase::kAllGather).chunks_received, 2U);
  EXPECT_EQ(ring.last_ns[0], 1'800);
  EXPECT_EQ(ring.sent_per_worker_per_step, 32);
  const RecordCheck servers = CheckRecord(SampleRun::Servers(2));
  EXPECT_EQ(servers.nodes[2].at(ChunkPhase::kPush).bytes_received, 128U);
  EXPECT_EQ(servers.nodes[2].at(ChunkPhase::kPull).bytes_sent, 128U);
}

TEST(RecordCheck, FindsAFalsifiedEventOfARing) {
  const RecordedRun run = SampleRun::Ring(2);
  for (std::size_t row = 0; row < run.chunks.rows.size(); ++row) {
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& chunk) { ++chunk.bytes; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& chunk) { ++chunk.elements; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& chunk) { ++chunk.step; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& chunk) { *chunk.offset += 4; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& chunk) { chunk.version = 1; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& chunk) { chunk.staleness = 0; }), "") << row;
    // All chunks of the sample are one message. Only the first begin and the last end are free.
    const TraceChunk& chunk = run.chunks.rows[row].chunk;
    if (chunk.begin % 1'000 > 100) {
      EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.begin += 10; }), "") << row;
      EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.begin -= 10; }), "") << row;
    }
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.end += 110; }), "") << row;
    if (chunk.end % 1'000 < 800) {
      EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.end -= 10; }), "") << row;
    }
  }
}

TEST(RecordCheck, FindsAFalsifiedEventOfServers) {
  const RecordedRun run = SampleRun::Servers(3);
  for (std::size_t row = 0; row < run.chunks.rows.size(); ++row) {
    const TraceChunk& chunk = run.chunks.rows[row].chunk;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { ++it.version; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { ++it.piece; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { ++it.step; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.peer = 1 - it.peer; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.phase = ChunkPhase::kGather; }), "");
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.offset = it.offset ? 4 : 0; }), "");
    if (chunk.action == ChunkAction::kUpdate) {
      EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.begin -= 10; }), "") << row;
      EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.end += 10; }), "") << row;
      EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.staleness = 0; }), "") << row;
      EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.bytes = 32; }), "") << row;
      continue;
    }
    if (chunk.server >= 0) {
      EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.begin -= 10; }), "") << row;
    }
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { ++it.bytes; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { ++it.elements; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { ++it.staleness; }), "") << row;
  }
}

TEST(RecordCheck, FindsAFalsifiedSlice) {
  const RecordedRun run = SampleRun::Slices(2);
  for (std::size_t row = 0; row < run.chunks.rows.size(); ++row) {
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.peer = 1; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { ++it.step; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { ++it.piece; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { ++*it.offset; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { ++it.elements; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { ++it.bytes; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.begin -= 10; }), "") << row;
    EXPECT_NE(ProblemAfter(run, row, [](TraceChunk& it) { it.end += 10; }), "") << row;
    RecordedRun without = run;
    without.chunks.rows.erase(without.chunks.rows.begin() + static_cast<std::ptrdiff_t>(row));
    without.traffic = JoinTraffic(without.chunks, 2);
    EXPECT_NE(FirstProblem(without), "") << row;
  }
}

TEST(RecordCheck, ComparesWithTheBytesOfTheKernel) {
  RecordedRun run = SampleRun::Ring(2);
  run.summary["transport"] = "tcp";
  run.summary["bytes_sent_by_worker"] = {70, 64};
  EXPECT_EQ(FirstProblem(run), "");
  run.summary["bytes_sent_by_worker"] = {70, 60};
  EXPECT_NE(FirstProblem(run).find("worker 1 sent 64 bytes"), std::string::npos);
  run.summary["transport"] = "shm";
  EXPECT_EQ(FirstProblem(run), "");
}

TEST(RecordCheck, WhatAKilledWorkerLeavesUnfinishedIsNotWrong) {
  RecordedRun run = SampleRun::Servers(3);
  std::erase_if(run.chunks.rows,
                [](const ChunkFile::Row& row) { return row.process == 1 && row.chunk.step == 2; });
  run.traffic = JoinTraffic(run.chunks, 2);
  EXPECT_NE(FirstProblem(run), "");
  run.summary["lost_workers"] = {{{"rank", 1}}};
  EXPECT_EQ(FirstProblem(run), "");
}

TEST(RecordCheck, ARingPassesChunksToTheNextRank) {
  RecordedRun run = SampleRun::Ring(1);
  run.chunks.head["workers"] = 3;
  run.chunks.processes.push_back({"worker 2", ""});
  run.traffic = JoinTraffic(run.chunks, 3);
  EXPECT_NE(FirstProblem(run).find("next rank"), std::string::npos);
}

TEST(RecordCheck, ComparesWithTheSummary) {
  RecordedRun run = SampleRun::Ring(2);
  run.summary["payload_bytes_sent_per_worker"] = 64;
  EXPECT_EQ(FirstProblem(run), "");
  run.summary["payload_bytes_sent_per_worker"] = 66;
  EXPECT_NE(FirstProblem(run).find("the summary says 66"), std::string::npos);
}

TEST(RecordCheck, ARecordThatIsCutOffIsCheckedWhereItHasBothEnds) {
  RecordedRun run = SampleRun::Servers(2);
  run.chunks.rows.resize(run.chunks.rows.size() - 3);
  run.chunks.complete = false;
  run.traffic = JoinTraffic(run.chunks, 2);
  EXPECT_EQ(FirstProblem(run), "the record has no end: it was cut off after it was written");
  EXPECT_EQ(CheckRecord(run).problems.size(), 1U);
  ++run.chunks.rows[0].chunk.bytes;
  run.traffic = JoinTraffic(run.chunks, 2);
  EXPECT_GT(CheckRecord(run).problems.size(), 1U);
}

TEST(RecordCheck, ARecordWithoutEventsContradictsARunThatSent) {
  RecordedRun run = SampleRun::Ring(2);
  run.summary["payload_bytes_sent_per_worker"] = 64;
  run.chunks.rows.clear();
  run.spans.clear();
  run.traffic = JoinTraffic(run.chunks, 2);
  EXPECT_NE(FirstProblem(run).find("a worker sent 0 bytes, and the summary says 64"),
            std::string::npos);
  run.chunks.head["strategy"] = "mpi";
  EXPECT_EQ(FirstProblem(run), "") << "its library hides the chunks";
}

TEST(RecordCheck, ListsAtMostTwentyProblems) {
  RecordedRun run = SampleRun::Ring(20);
  for (ChunkFile::Row& row : run.chunks.rows)
    row.chunk.bytes += static_cast<std::uint64_t>(row.process);
  run.traffic = JoinTraffic(run.chunks, 2);
  const RecordCheck check = CheckRecord(run);
  EXPECT_EQ(check.problems.size(), RecordCheck::kMostProblems);
  EXPECT_EQ(check.further_problems, 140U);
}

}  // namespace
}  // namespace ringside
