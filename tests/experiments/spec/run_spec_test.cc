#include "ringside/experiments/spec/run_spec.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/spec/spec_keys.h"
#include "ringside/experiments/spec/timeline_steps.h"
#include "ringside/paramserver/server/consistency_table.h"
#include "tests/experiments/spec/spec_testing.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using nlohmann::json;

TEST(RunSpecJson, RoundTripsEveryKey) {
  const RunSpec spec =
      With(RunSpec(TestCatalog()), {{"strategy", "ps-sync"},
                                    {"workers", "7"},
                                    {"hosts", "2"},
                                    {"network", "hosts=2,rate=1Gbps"},
                                    {"servers", "colocated:3"},
                                    {"schedule", "priority"},
                                    {"codec", "topk:0.01"},
                                    {"error-feedback", "off"},
                                    {"ps-transport", "uds"},
                                    {"staleness", "7"},
                                    {"backups", "2"},
                                    {"staleness-lr", "true"},
                                    {"sync-every", "5"},
                                    {"outer-lr", "0.5"},
                                    {"outer-momentum", "0.8"},
                                    {"nccl-algorithm", "tree"},
                                    {"nccl-share-gpu", "true"},
                                    {"host-sum", "nccl"},
                                    {"model", "cnn"},
                                    {"hidden", "3,5"},
                                    {"compute-ms", "1.25"},
                                    {"straggler", "kind=rotating,factor=2,every=7"},
                                    {"data", "mnist"},
                                    {"data-dir", "/d"},
                                    {"epochs", "9"},
                                    {"steps", "11"},
                                    {"global-batch", "77"},
                                    {"batch-per-worker", "13"},
                                    {"optimizer", "adamw"},
                                    {"lr", "0.3"},
                                    {"momentum", "0.7"},
                                    {"nesterov", "true"},
                                    {"weight-decay", "1e-4"},
                                    {"beta1", "0.8"},
                                    {"beta2", "0.99"},
                                    {"epsilon", "1e-7"},
                                    {"schedule-lr", "cosine"},
                                    {"lr-warmup-steps", "4"},
                                    {"lr-step-every", "5"},
                                    {"lr-gamma", "0.2"},
                                    {"scale-lr", "yes"},
                                    {"seed", "42"},
                                    {"repetition", "2"},
                                    {"bucket-mb", "64KiB"},
                                    {"overlap", "off"},
                                    {"threads", "3"},
                                    {"eval-every", "6"},
                                    {"checkpoint-every", "8"},
                                    {"resume", "/c"},
                                    {"timeline", "true"},
                                    {"timeline-steps", "10:20:2"},
                                    {"timeline-filename", "/t"},
                                    {"save-params", "true"},
                                    {"warmup-steps", "1"},
                                    {"link", "1Gbps"},
                                    {"latency", "50us"},
                                    {"timeout", "4s"}});
  const json written = spec;
  const json defaults = RunSpec(TestCatalog());
  for (const auto& [key, value] : written.items()) {
    EXPECT_NE(value, defaults.at(key)) << key << " was not changed, so it proves nothing";
  }
  const RunSpec read = ReadRunSpec(json::parse(written.dump()), TestCatalog());
  EXPECT_EQ(json(read), written);
  EXPECT_EQ(read.bucket_bytes, 65536);
  EXPECT_EQ(read.servers, 3);
  EXPECT_TRUE(read.colocated);
  EXPECT_EQ(read.link_bits_per_s, 1e9);
  EXPECT_EQ(read.learning_rate, 0.3);
  EXPECT_EQ(read.optimizer.kind, OptimizerOptions::Kind::kAdamW);
}

// So that the ids of runs from before the key was there stay.
TEST(RunSpecJson, TheNumberOfCheckpointsIsWrittenOnlyIfItIsNotTheDefault) {
  RunSpec spec(TestCatalog());
  EXPECT_FALSE(json(spec).contains("keep_checkpoints"));
  SetSpecKey(spec, "keep", "5");
  EXPECT_EQ(json(spec).at("keep_checkpoints"), 5);
  EXPECT_EQ(ReadRunSpec(json(spec), TestCatalog()).keep_checkpoints, 5);
}

TEST(RunSpecJson, ChecksOfReplicasAreWrittenOnlyIfTheyAreAskedFor) {
  RunSpec spec(TestCatalog());
  EXPECT_FALSE(json(spec).contains("check_replicas"));
  SetSpecKey(spec, "check-replicas", "100");
  EXPECT_EQ(ReadRunSpec(json(spec), TestCatalog()).check_replicas, 100);
}

TEST(RunSpecJson, ServersThatOnlySumAreWrittenOnlyIfTheyAreAskedFor) {
  RunSpec spec(TestCatalog());
  SetSpecKey(spec, "server-update", "on");
  EXPECT_FALSE(json(spec).contains("server_update"));
  SetSpecKey(spec, "server-update", "off");
  EXPECT_EQ(json(spec)["server_update"], false);
  EXPECT_FALSE(ReadRunSpec(json(spec), TestCatalog()).options.Get(kServerUpdate));
}

TEST(RunSpecJson, RefusesUnknownKeysAndWrongTypes) {
  const auto key_of = [](const json& value) {
    try {
      (void)ReadRunSpec(value, TestCatalog());
    } catch (const SpecKeyError& error) {
      return error.key();
    }
    return std::string("taken");
  };
  EXPECT_EQ(key_of({{"wrokers", 2}}), "wrokers");
  EXPECT_EQ(key_of({{"workers", "2"}}), "workers");
  EXPECT_EQ(key_of({{"workers", 2.5}}), "workers");
  EXPECT_EQ(key_of({{"workers", 1LL << 40}}), "workers");
  EXPECT_EQ(key_of({{"workers", true}}), "workers");
  EXPECT_EQ(key_of({{"strategy", 3}}), "strategy");
  EXPECT_EQ(key_of({{"hidden", {1, "x"}}}), "hidden");
  EXPECT_EQ(key_of({{"hidden", {1, 2.5}}}), "hidden");
  EXPECT_EQ(key_of({{"hidden", {1, true}}}), "hidden");
  EXPECT_EQ(key_of({{"hidden", {1e74}}}), "hidden");
  EXPECT_EQ(key_of({{"nesterov", 1}}), "nesterov");
  EXPECT_EQ(key_of({{"servers", "everywhere"}}), "servers");
  EXPECT_EQ(key_of({{"seed", -1}}), "seed");
  EXPECT_EQ(key_of({{"optimizer", "sdg"}}), "optimizer");
  EXPECT_EQ(key_of({{"codec", "topk:2"}}), "codec");
  EXPECT_EQ(key_of({{"straggler", "kind=slow,factor=2"}}), "straggler");
  EXPECT_EQ(key_of({{"straggler", 2}}), "straggler");
  EXPECT_EQ(key_of({{"ps-transport", "carrier-pigeon"}}), "ps-transport");
  EXPECT_EQ(key_of({{"schedule", "lifo"}}), "schedule");
  EXPECT_EQ(key_of({{"seed", ~std::uint64_t{0}}}), "taken");
  EXPECT_THROW((void)ReadRunSpec(json::array({1}), TestCatalog()), ConfigError);
}

TEST(SpecKeys, TakeUnitsAndBothSpellings) {
  RunSpec spec(TestCatalog());
  SetSpecKey(spec, "bucket-mb", "2");
  EXPECT_EQ(spec.bucket_bytes, 2 << 20);
  SetSpecKey(spec, "bucket_mb", "3");
  EXPECT_EQ(spec.bucket_bytes, 3 << 20);
  SetSpecKey(spec, "bucket_bytes", "1000");
  EXPECT_EQ(spec.bucket_bytes, 1000);
  SetSpecKey(spec, "compute-ms", "0.1s");
  EXPECT_EQ(spec.compute_ms, 100);
  SetSpecKey(spec, "servers", "colocated");
  EXPECT_TRUE(spec.colocated);
  EXPECT_EQ(spec.servers, 0);
  SetSpecKey(spec, "servers", "2");
  EXPECT_FALSE(spec.colocated);
  EXPECT_EQ(spec.servers, 2);
}

TEST(SpecKeys, RefuseNumbersThatJsonCannotHold) {
  for (const char* key : {"timeout", "latency"}) {
    RunSpec spec(TestCatalog());
    EXPECT_THROW(SetSpecKey(spec, key, "1e308h"), SpecKeyError) << key;
  }
}

TEST(SpecKeys, RefuseTextsThatJsonCannotHold) {
  RunSpec spec(TestCatalog());
  EXPECT_THROW(SetSpecKey(spec, "timeline-filename", "\xff"), SpecKeyError);
  EXPECT_THROW(SetSpecKey(spec, "ps-transport", "tcp\xc3"), SpecKeyError);
  EXPECT_NO_THROW(SetSpecKey(spec, "timeline-filename", "\xc3\xa4.json"));
}

TEST(SpecKeys, RefuseNullCharacters) {
  RunSpec spec(TestCatalog());
  EXPECT_THROW(SetSpecKey(spec, "data", std::string_view("npz:a\0b", 7)), SpecKeyError);
  EXPECT_THROW(ReadRunSpec({{"data", std::string("npz:a\0b", 7)}}, TestCatalog()), SpecKeyError);
  SetSpecKey(spec, "data", "npz:ab");
  EXPECT_EQ(spec.data, "npz:ab");
}

TEST(RunId, IsThatOfTheSpecSeedAndRepetition) {
  const RunSpec spec = Resolve(ProfileOfTenSteps());
  EXPECT_EQ(RunId(spec).size(), 16U);
  EXPECT_EQ(RunId(spec), RunId(ReadRunSpec(json(spec), TestCatalog())));
  for (const auto& change :
       std::vector<SpecChange>{{"seed", "2"}, {"repetition", "1"}, {"lr", "0.2"}}) {
    EXPECT_NE(RunId(spec), RunId(With(spec, {change}))) << change.key;
  }
}

TEST(TimelineStepsText, ComesBack) {
  for (const char* text : {"", "10:20", "0::10", "5:", "10:20:3"}) {
    EXPECT_EQ(TimelineStepsText(ParseTimelineSteps(text)), text);
  }
  EXPECT_EQ(ParseTimelineSteps("::10"), ParseTimelineSteps("0::10"));
  EXPECT_EQ(ParseTimelineSteps(":20"), ParseTimelineSteps("0:20:1"));
  EXPECT_EQ(TimelineStepsText(ParseTimelineSteps(":")), "") << "all steps";
  for (const char* text : {"10", "20:10", "10:10", "-1:5", "::0", "1:2:3:4", "a:b"}) {
    EXPECT_THROW(ParseTimelineSteps(text), ConfigError) << text;
  }
}

TEST(OptionRanges, AreCheckedWhenAllValuesAreMerged) {
  RunSpec spec(TestCatalog());
  spec.strategy = "ps-ssp";
  SetSpecKey(spec, "staleness", "-1");
  EXPECT_THROW(ResolveStrategy(spec), SpecKeyError);
  SetSpecKey(spec, "staleness", "2");
  EXPECT_NO_THROW(ResolveStrategy(spec));
}

TEST(OptionRanges, AStrategyThatDoesNotReadAnOptionSaysSoWhateverItsValue) {
  RunSpec spec(TestCatalog());
  spec.strategy = "ring";
  SetSpecKey(spec, "staleness", "-1");
  try {
    ResolveStrategy(spec);
    ADD_FAILURE() << "not refused";
  } catch (const SpecKeyError& error) {
    EXPECT_EQ(error.key(), "staleness");
    EXPECT_NE(error.reason().find("does not read it; no strategy takes this value"),
              std::string::npos)
        << error.reason();
  }
}

}  // namespace
}  // namespace ringside
