#ifndef RINGSIDE_TESTS_PARAMSERVER_TRANSPORTS_TCP_TCP_SERVER_H_
#define RINGSIDE_TESTS_PARAMSERVER_TRANSPORTS_TCP_TCP_SERVER_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ringside/paramserver/server/consistency.h"
#include "ringside/paramserver/transports/handshake/server_handshake.h"
#include "ringside/paramserver/transports/tcp/tcp_listener.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "ringside/paramserver/wire/plan_message.h"
#include "tests/paramserver/transports/tcp/raw_connection.h"

namespace ringside {

inline std::span<const std::byte> Bytes(const std::vector<float>& floats) {
  return std::as_bytes(std::span(floats));
}

inline std::vector<float> Floats(const RawFrame& frame) {
  std::vector<float> floats(frame.payload.size() / sizeof(float));
  std::memcpy(floats.data(), frame.payload.data(), floats.size() * sizeof(float));
  return floats;
}

/// A server of two workers and one slice, with parameters 3.
class TcpServerTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kElements = 8;
  static constexpr std::size_t kBytes = kElements * sizeof(float);
  static constexpr int kWorkers = 2;

  TcpServerTest()
      : schedule_({.base = 1.0}),
        context_{.index = 0,
                 .servers = 1,
                 .workers = kWorkers,
                 .store = store_,
                 .comm = comm_,
                 .optimizer = optimizer_,
                 .schedule = schedule_,
                 .timeline = timeline_},
        table_(context_, [this] { return MakeSynchronous(kWorkers, schedule_); }),
        listener_(Listen()) {}

  std::unique_ptr<Listener> Listen() {
    return ListenTcp(transports_.Named("tcp"), context_, table_);
  }

  void StartTable() {
    table_.Start(PlanOf(0));
    table_.Load({.kind = FrameKind::kLoad, .payload_bytes = kBytes}, OwnedPayload(parameters_));
  }

  /// The same with slices of these lengths, each the only one of its bucket.
  void StartTable(const std::vector<std::size_t>& elements) {
    PlanInfo plan = PlanOf(0);
    plan.slices.clear();
    for (std::uint32_t i = 0; i < elements.size(); ++i) {
      plan.slices.push_back({.index = i, .elements = elements[i], .bucket = i, .leads = true});
    }
    table_.Start(plan);
    for (std::uint32_t i = 0; i < elements.size(); ++i) {
      const std::vector<float> values(elements[i], 3.0F);
      table_.Load({.kind = FrameKind::kLoad,
                   .slice = i,
                   .bucket = i,
                   .payload_bytes = Bytes(values).size()},
                  OwnedPayload(values));
    }
  }

  static PlanInfo PlanOf(std::uint32_t worker) {
    return {.worker = worker,
            .workers = kWorkers,
            .servers = 1,
            .fingerprint = 1,
            .slices = {{.elements = kElements, .leads = true}}};
  }

  RawConnection Connect() const { return RawConnection(listener_->address().address); }

  RawConnection Admitted(int worker) const {
    RawConnection connection = Connect();
    ServerHandshake(ServerHandshake::Protocol::kFrames, comm_.token, kWorkers, 1)
        .Join(connection.file(), worker, 0, "server 0", RawConnection::Later());
    return connection;
  }

  static FrameHeader Push(std::uint32_t worker) { return {.worker = worker}; }
  static FrameHeader Pull(std::uint32_t worker) {
    return {.kind = FrameKind::kPull, .worker = worker};
  }

  /// The text of the refusal that comes next.
  static std::string Refusal(RawConnection& connection) {
    const auto frame = connection.Receive();
    if (!frame || !frame->header.refused) return "it was not refused";
    Refused refused;
    if (!refused.ParseFromArray(frame->payload.data(), static_cast<int>(frame->payload.size()))) {
      return "it cannot be read";
    }
    return refused.culprit() + "|" + refused.message();
  }

  static void ExpectServing(RawConnection& connection, std::uint32_t worker, float value = 3) {
    ASSERT_TRUE(connection.Send(Pull(worker), {}));
    const auto frame = connection.Receive();
    ASSERT_TRUE(frame);
    EXPECT_FALSE(frame->header.refused);
    EXPECT_EQ(Floats(*frame), std::vector<float>(kElements, value));
  }

  /// Every refusal must leave a server that serves.
  void ExpectServing() const {
    RawConnection connection = Admitted(1);
    ExpectServing(connection, 1);
  }

  const TransportTable transports_;
  InProcessStore store_;
  const CommOptions comm_{.token = "secret of the job"};
  const OptimizerOptions optimizer_;
  const Schedule schedule_;
  Timeline timeline_;
  const std::vector<float> parameters_ = std::vector<float>(kElements, 3.0F);
  const std::vector<float> gradient_ = std::vector<float>(kElements, 1.0F);
  ServerContext context_;
  ShardTable table_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_PARAMSERVER_TRANSPORTS_TCP_TCP_SERVER_H_
