#include "ringside/experiments/worker/timeline_sender.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ringside/common/security/secrets.h"
#include "ringside/experiments/job/coordinator/coordinator.h"
#include "ringside/experiments/job/timeline/chunk_trace.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

class TimelineSenderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    client_.Join({.who = {Role::kWorker, 0}, .pid = 7, .host = "here", .spec_hash = "spec"},
                 Deadline::After(std::chrono::seconds(20)));
  }

  static RunSpec RecordedRun(int workers = 1) {
    RunSpec spec = ProfileSpec("ring", workers, 1);
    spec.timeline = true;
    return spec;
  }

  static ChunkEvent Chunk() {
    ChunkEvent chunk;
    chunk.begin = chunk.end = Timeline::Clock::now();
    return chunk;
  }

  const std::string token_ = MakeToken();
  const std::shared_ptr<JobState> job_state_ = std::make_shared<JobState>(
      JobState::Options{.workers = 1, .servers = 0, .spec_hash = "spec"});
  Coordinator coordinator_{job_state_, {.token = token_}};
  CoordinatorClient client_{{.target = coordinator_.target(), .token = token_}};
  TimelineSender sender_{client_, RecordedRun()};
};

TEST_F(TimelineSenderTest, SendsMoreThanFitsInAPiece) {
  constexpr std::size_t kEvents = 10'000;
  for (std::size_t event = 0; event < kEvents; ++event) sender_.timeline().AddChunk(Chunk());
  sender_.SendRest();
  const TracePiece all = job_state_->TakeTrace({Role::kWorker, 0});
  EXPECT_EQ(UnpackChunks(all.chunks, {}).size(), kEvents);
  EXPECT_EQ(all.dropped_chunks, 0U);
}

TEST_F(TimelineSenderTest, ManyProcessesShareTheRoomOfARun) {
  constexpr int kWorkers = 50;
  TimelineSender one(client_, RecordedRun(kWorkers));
  for (std::size_t event = 0; event < kRecordOfRun.chunks; ++event)
    one.timeline().AddChunk(Chunk());
  EXPECT_EQ(one.timeline().TakeChunks().size(), kRecordOfRun.chunks / kWorkers);
}

TEST_F(TimelineSenderTest, SendsWhatIsNewBeforeABeat) {
  for (std::size_t beat = 1; beat <= 2; ++beat) {
    sender_.timeline().AddChunk(Chunk());
    sender_.SendSome();
    const TracePiece piece = job_state_->TakeTrace({Role::kWorker, 0});
    EXPECT_EQ(UnpackChunks(piece.chunks, {}).size(), 1U);
  }
  sender_.SendSome();
  EXPECT_TRUE(job_state_->TakeTrace({Role::kWorker, 0}).chunks.empty());
}

}  // namespace
}  // namespace ringside
