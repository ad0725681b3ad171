#include "ringside/experiments/worker/timeline_sender.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

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

  static Deadline Soon() { return Deadline::After(std::chrono::seconds(20)); }
  /// Adds an event to the sender's timeline.
  void AddChunk() {
    ChunkEvent chunk;
    chunk.begin = chunk.end = Timeline::Clock::now();
    chunk.step = 0;
    sender_.timeline().AddChunk(chunk);
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
  for (std::size_t event = 0; event < kEvents; ++event) AddChunk();
  sender_.Send(Soon());
  const TracePiece all = job_state_->TakeTrace({Role::kWorker, 0});
  EXPECT_EQ(UnpackChunks(all.chunks, {}).size(), kEvents);
  EXPECT_EQ(all.dropped_chunks, 0U);
}

TEST_F(TimelineSenderTest, ManyProcessesShareTheRoomOfARun) {
  constexpr int kWorkers = 50;
  TimelineSender one(client_, RecordedRun(kWorkers));
  ChunkEvent chunk;
  chunk.begin = chunk.end = Timeline::Clock::now();
  for (std::size_t event = 0; event < kRecordOfRun.chunks; ++event) one.timeline().AddChunk(chunk);
  EXPECT_EQ(one.timeline().TakeChunks().size(), kRecordOfRun.chunks / kWorkers);
}

TEST_F(TimelineSenderTest, SendsNothingMoreAfterTheDeadline) {
  for (int event = 0; event < 10'000; ++event) AddChunk();
  sender_.Send(Deadline::After(std::chrono::seconds(0)));
  EXPECT_GT(sender_.timeline().TakeChunks().size(), 0U) << "they wait for the next time";
}

// Heartbeats wait for the thread that sends, so it must not stay for as long as events come.
TEST_F(TimelineSenderTest, EndsThoughEventsGoOn) {
  std::atomic<bool> begun = false;
  std::atomic<bool> stop = false;
  std::thread events([&] {
    for (; !stop; begun = true) AddChunk();
  });
  while (!begun) std::this_thread::yield();
  for (int beat = 0; beat < 3; ++beat) sender_.Send(Soon());
  stop = true;
  events.join();
  sender_.Send(Soon());
  const TracePiece all = job_state_->TakeTrace({Role::kWorker, 0});
  EXPECT_GT(UnpackChunks(all.chunks, {}).size(), 0U);
}

}  // namespace
}  // namespace ringside
