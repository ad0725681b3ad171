#ifndef RINGSIDE_TESTS_FUZZ_SERVER_PARTS_H_
#define RINGSIDE_TESTS_FUZZ_SERVER_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/codec/codec_table.h"
#include "ringside/common/core/store.h"
#include "ringside/common/strategy/server.h"
#include "ringside/paramserver/server/consistency_table.h"
#include "ringside/paramserver/server/shard_table.h"
#include "ringside/paramserver/wire/plan_message.h"
#include "tests/fuzz/fuzz_input.h"

namespace ringside {

/// A server without a transport: the table of shards, and all that it borrows.
class ServerParts {
 public:
  static constexpr int kWorkers = 2;
  static constexpr std::size_t kElements = 8;
  static constexpr std::size_t kBytes = kElements * sizeof(float);

  /// `consistency` is an index of the table, modulo its length.
  explicit ServerParts(std::size_t consistency = 0, std::string_view codec = "fp32")
      : context_{.index = 0,
                 .servers = 1,
                 .workers = kWorkers,
                 .store = store_,
                 .comm = comm_,
                 .optimizer = optimizer_,
                 .schedule = schedule_,
                 .timeline = timeline_,
                 .options = OptionsWith(codec)},
        entry_(EntryAt(consistency)),
        table_(context_, [this] { return entry_.make(context_); }) {}

  const ServerContext& context() const { return context_; }
  ShardTable& table() { return table_; }

  /// Starts the job with one slice and loads its parameters.
  void Start() {
    table_.Start(PlanOf(0));
    table_.Load({.kind = FrameKind::kLoad, .payload_bytes = kBytes},
                OwnedPayload(std::vector<float>(kElements, 3.0F)));
  }

  static PlanInfo PlanOf(std::uint32_t worker) {
    return {.worker = worker,
            .workers = kWorkers,
            .server = 0,
            .servers = 1,
            .fingerprint = 1,
            .step = 0,
            .slices = {{.elements = kElements, .leads = true}}};
  }

  /// A header and its payload of as many floats as the one slice has, or none.
  static std::string Frame(FrameHeader header, bool with_floats) {
    const std::vector<float> floats(with_floats ? kElements : 0, 1.0F);
    header.payload_bytes = floats.size() * sizeof(float);
    return TextOf(EncodeHeader(header)) + TextOf(std::as_bytes(std::span(floats)));
  }

 private:
  static StrategyOptions OptionsWith(std::string_view codec) {
    StrategyOptions options;
    ParseCodec(codec, BuiltinCodecs(), options.codec);
    return options;
  }
  static ConsistencyEntry EntryAt(std::size_t index) {
    const std::vector<ConsistencyEntry> table = ConsistencyTable();
    return table[index % table.size()];
  }

  InProcessStore store_;
  const CommOptions comm_{.token = "secret of the job"};
  const OptimizerOptions optimizer_{.momentum = 0.9};
  const Schedule schedule_{{.base = 1.0}};
  Timeline timeline_;
  const ServerContext context_;
  const ConsistencyEntry entry_;
  ShardTable table_;
};

/// The answer to a push. More than one is a finding.
class CountedReply : public PendingReply {
 public:
  void Send(ParameterReply) override { Count(); }
  void Refuse(const Refusal&) override { Count(); }
  int answers() const { return answers_; }

 private:
  void Count() { ++answers_; }

  int answers_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_FUZZ_SERVER_PARTS_H_
