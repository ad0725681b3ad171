#include "ringside/experiments/job/timeline/chunk_file.h"

#include <gtest/gtest.h>

#include <chrono>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/job/timeline/chrome_trace.h"
#include "ringside/experiments/worker/timeline_sender.h"

namespace ringside {
namespace {

using std::chrono::nanoseconds;

DilatedClock::time_point At(std::int64_t nanosecond) {
  return DilatedClock::time_point(nanoseconds(nanosecond));
}

ChunkEvent Push() {
  ChunkEvent event;
  event.begin = At(1000);
  event.end = At(3000);
  event.step = 7;
  event.offset = 64;
  event.elements = 16;
  event.bytes = 64;
  event.version = 6;
  event.bucket = 1;
  event.piece = 3;
  event.peer = 2;
  return event;
}

std::vector<ProcessTrace> OneWorker() {
  ProcessTrace worker;
  worker.name = "worker 0";
  worker.host = "node 0";
  worker.chunks = UnpackChunks(PackChunks({Push()}), {});
  worker.dropped_chunks = 5;
  return {worker};
}

nlohmann::json About() { return {{"workers", 1}, {"servers", 1}, {"dedicated_servers", 1}}; }

std::string Problem(const std::string& text) {
  try {
    ParseChunkFile(text, "f");
  } catch (const DataError& error) {
    return error.what();
  }
  return {};
}

TEST(ChunkTrace, PacksAndUnpacks) {
  const std::vector<TraceChunk> chunks = UnpackChunks(PackChunks({Push(), Push()}), {});
  ASSERT_EQ(chunks.size(), 2U);
  EXPECT_EQ(chunks[0].begin, 1000);
  EXPECT_EQ(chunks[0].end, 3000);
  EXPECT_EQ(chunks[0].offset, 64U);
  EXPECT_EQ(chunks[0].server, -1);
  EXPECT_EQ(chunks[0].staleness, -1);
  EXPECT_EQ(chunks[1], chunks[0]);
}

TEST(ChunkTrace, LeavesOutWhatNoProcessRecords) {
  ChunkEvent backwards = Push();
  backwards.end = At(0);
  ChunkEvent of_nobody = Push();
  of_nobody.peer = kMostNodes;
  EXPECT_TRUE(UnpackChunks(PackChunks({backwards, of_nobody}), {}).empty());
  EXPECT_TRUE(UnpackChunks(PackChunks({Push()}).substr(1), {}).empty());
}

TEST(ChunkFile, GivesBackWhatWasWritten) {
  const std::vector<ProcessTrace> traces = OneWorker();
  const ChunkFile file = ParseChunkFile(ChunkFileText(traces, About()), "f");
  EXPECT_TRUE(file.complete);
  EXPECT_EQ(file.dropped, 5U);
  ASSERT_EQ(file.processes.size(), 1U);
  EXPECT_EQ(file.processes[0].name, "worker 0");
  EXPECT_EQ(file.processes[0].host, "node 0");
  ASSERT_EQ(file.rows.size(), 1U);
  TraceChunk expected = traces[0].chunks[0];
  expected.begin = 0;  // the first event of the run
  expected.end = 2000;
  EXPECT_EQ(file.rows[0].chunk, expected);
}

TEST(ChunkFile, BeginsItsClockWithTheFirstSpan) {
  std::vector<ProcessTrace> traces = OneWorker();
  traces[0].spans.push_back({.begin = 400, .end = 500});
  EXPECT_EQ(ParseChunkFile(ChunkFileText(traces, About()), "f").rows[0].chunk.begin, 600);
}

TEST(ChunkFile, AFileThatIsCutOffGivesWhatThereIs) {
  const std::string text = ChunkFileText(OneWorker(), About());
  const std::size_t end = text.rfind("{\"chunks\"");
  for (const std::size_t length : {end, end + 3, text.size() - 2}) {
    const ChunkFile file = ParseChunkFile(text.substr(0, length), "f");
    EXPECT_FALSE(file.complete) << length;
    EXPECT_EQ(file.rows.size(), 1U) << length;
  }
  EXPECT_EQ(ParseChunkFile(text.substr(0, end - 5), "f").rows.size(), 0U);
}

TEST(ChunkFile, ErrorsNameTheLine) {
  const std::string text = ChunkFileText(OneWorker(), About());
  const std::string head = text.substr(0, text.find('\n') + 1);
  EXPECT_NE(Problem(""), "");
  EXPECT_NE(Problem("{}\n").find("f:1"), std::string::npos);
  EXPECT_NE(Problem(head + "nonsense\n{}\n").find("f:2"), std::string::npos);
  EXPECT_NE(Problem(head + "[1,2]\n").find("f:2"), std::string::npos);
  EXPECT_NE(Problem(head + "{\"chunks\":3}\n").find("number of chunks"), std::string::npos);
  std::string wrapped = text;  // 2^64 - 1, which is -1 as a signed number
  wrapped.replace(wrapped.find("\"push\",2"), 8, "\"push\",18446744073709551615");
  EXPECT_NE(Problem(wrapped).find("'peer' is 18446744073709551615"), std::string::npos);
  std::string falsified = text;
  falsified.replace(falsified.find("\"push\""), 6, "\"bush\"");
  EXPECT_NE(Problem(falsified).find("\"bush\" is not a known name"), std::string::npos);
}

// The longest lines: ten minutes in nanoseconds, numbers of ten digits.
TEST(ChunkFile, TheLargestRecordHasLessThan64Megabytes) {
  constexpr std::int64_t kTenMinutes = 600'000'000'000;
  ProcessTrace worker;
  worker.name = "worker 0";
  TraceChunk chunk{.begin = kTenMinutes,
                   .end = 2 * kTenMinutes,
                   .step = 1'000'000,
                   .offset = 100'000'000,
                   .elements = 10'000'000,
                   .bytes = 40'000'000,
                   .version = 1'000'000,
                   .staleness = 10,
                   .bucket = 100,
                   .piece = 1'000,
                   .server = 10,
                   .peer = 10,
                   .phase = ChunkPhase::kReduceScatter,
                   .action = ChunkAction::kReceive};
  worker.chunks.assign(kRecordOfRun.chunks, chunk);
  worker.spans.assign(kRecordOfRun.spans, {.begin = kTenMinutes,
                                           .end = 2 * kTenMinutes,
                                           .step = 1'000'000,
                                           .bucket = 100,
                                           .lane = kServerQueueLane,
                                           .kind = SpanKind::kBackward});
  worker.spans.front().begin = 0;
  const std::vector<ProcessTrace> traces{worker};
  const std::size_t bytes = ChunkFileText(traces, About()).size() + ChromeTrace(traces, {}).size();
  EXPECT_LT(bytes, std::size_t{64'000'000});
}

TEST(ChunkFile, AnotherFormatIsRefused) {
  std::string text = ChunkFileText(OneWorker(), About());
  char& format = text[text.find("\"format\":2") + 9];
  format = '3';
  EXPECT_NE(Problem(text).find("a newer program"), std::string::npos);
  format = '1';
  EXPECT_NE(Problem(text).find("an older program"), std::string::npos);
}

TEST(ChunkFile, AChangedFileIsKnownByItsChecksum) {
  const std::string text = ChunkFileText(OneWorker(), About());
  EXPECT_FALSE(ParseChunkFile(text, "f").changed);
  std::string changed = text;
  changed.replace(changed.find("node 0"), 6, "node 1");
  EXPECT_TRUE(ParseChunkFile(changed, "f").changed);
  changed = text;
  changed.replace(changed.find("\"push\",2"), 8, "\"push\",3");
  EXPECT_TRUE(ParseChunkFile(changed, "f").changed);
  const std::string end = "{\"chunks\":1}\n";
  EXPECT_NE(Problem(text.substr(0, text.rfind("{\"chunks\"")) + end).find("checksum is missing"),
            std::string::npos);
}

}  // namespace
}  // namespace ringside
