#include "tests/ring/collectives/codec_collective_testing.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <random>

#include "ringside/common/codec/codec_table.h"
#include "ringside/ring/algorithms/ring_algorithms.h"
#include "ringside/ring/collectives/link_collective_entry.h"
#include "tests/common/thread_ranks.h"

namespace ringside {

using namespace std::chrono_literals;

CommOptions TestComm() { return {.address = "127.0.0.1", .token = "secret", .timeout = 5s}; }

StrategyOptions CodecOptionsOf(const std::string& codec, ErrorFeedback feedback) {
  StrategyOptions options;
  options.codec.error_feedback = feedback;
  options.codec.seed = 5;
  ParseCodec(codec, BuiltinCodecs(), options.codec);
  return options;
}

CollectiveEntry RingEntry() { return LinkCollectiveEntry(kRingAlgorithm); }

void FillRandomly(std::span<float> values, int rank, int step) {
  std::mt19937 random(static_cast<unsigned>(100 * step + rank));
  std::normal_distribution<float> normal(0, 1e-2F);
  for (float& value : values) value = normal(random);
}

bool RoundsOnItsWay(const std::string& codec) {
  return codec == "fp16" || codec == "bf16" || codec == "int8";
}

std::vector<CodecSetting> CodecSettings() {
  std::vector<CodecSetting> settings;
  for (const int world : {1, 2, 3, 4, 7}) {
    for (const char* codec :
         {"fp32", "fp16", "bf16", "int8", "topk:0.01", "topk:0.2", "sign", "powersgd:2"}) {
      settings.push_back({RingEntry(), codec, world});
    }
  }
  for (const CollectiveEntry& entry : CollectiveTable()) {
    // `auto` has tests of its own. It may pick another algorithm and so round in another way.
    const bool here = entry.make_encoded != nullptr && entry.repeatable;
    if (!here || entry.topology == Topology::kRing) continue;
    for (const char* codec : {"fp16", "int8", "topk:0.2", "powersgd:2"}) {
      if (CheckCodecOn(entry, CodecOptionsOf(codec).codec)) continue;
      for (const int world : {3, 4}) settings.push_back({entry, codec, world});
    }
  }
  return settings;
}

std::vector<CodecSetting> CodecSettingsWhere(
    const std::function<bool(const CodecSetting&)>& wanted) {
  std::vector<CodecSetting> settings = CodecSettings();
  std::erase_if(settings, [&](const CodecSetting& setting) { return !wanted(setting); });
  return settings;
}

void PrintTo(const CodecSetting& setting, std::ostream* out) {
  *out << setting.entry.name << ", " << setting.codec << ", " << setting.world << " workers";
}

std::string NameOfCodecSetting(const testing::TestParamInfo<CodecSetting>& info) {
  std::string name = std::string(info.param.entry.name) + "_" + info.param.codec + "_" +
                     std::to_string(info.param.world);
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

void CodecCollectiveTest::OnEveryRank(std::size_t elements, const StrategyOptions& options,
                                      const Body& body) const {
  InProcessStore store;
  const CommOptions comm = TestComm();
  RunRanks(world(), [&](int rank) {
    World self = TestWorld(rank, world());
    self.host = "host " + std::to_string(rank / 2);  // two workers a host
    CodecMember member(elements, GetParam().entry.memory);
    const auto sum = MakeSum(GetParam().entry, {self, store, comm, options, "g"}, member.recorder,
                             member.timeline);
    sum->Prepare(member.space, member.plan);
    body(*sum, member, rank);
    sum->AllGather({});
  });
}

}  // namespace ringside
