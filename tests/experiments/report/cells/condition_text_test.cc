#include "ringside/experiments/report/cells/condition_text.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "ringside/experiments/spec/catalog.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

std::string Condition(const std::string& key, const std::string& value) {
  RunSpec spec(TestCatalog());
  SetSpecKey(spec, key, value);
  return ConditionText(*TestCatalog().FindKey(key), spec);
}

TEST(ConditionText, SaysInWordsWhatTheNetworkIs) {
  EXPECT_EQ(Condition("network", "100Mbps"), "at 100 Mbit/s");
  EXPECT_EQ(Condition("network", "rate=1Gbps,racks=2,uplink=4Gbps"),
            "at 1 Gbit/s in 2 racks with uplinks of 4 Gbit/s");
  EXPECT_EQ(Condition("network", "rate=1Gbps,rates=250Mbps"), "at 1 Gbit/s, host 0 at 250 Mbit/s");
  EXPECT_EQ(Condition("network", "rate=1Gbps,rates=250Mbps:2.5Gbps"),
            "at 1 Gbit/s, the first hosts at 250 Mbit/s and 2.5 Gbit/s");
  EXPECT_EQ(Condition("network", "rates=250Mbps:1Gbps"), "at 250 Mbit/s and 1 Gbit/s");
  EXPECT_EQ(Condition("network", "hosts=4,rate=1Gbps,congestion=reno"),
            "at 1 Gbit/s, workers on 4 hosts under reno");
  EXPECT_EQ(Condition("network", "rate=1500kbps,latency=50us,jitter=10us,loss=0.01"),
            "at 1.5 Mbit/s, 50 us of latency, 10 us of jitter, 1 % of packets lost");
  EXPECT_EQ(Condition("network", "rate=1Gbps,servers=workers"),
            "at 1 Gbit/s, servers on the workers' hosts");
  EXPECT_EQ(ConditionText(*TestCatalog().FindKey("network"), RunSpec(TestCatalog())),
            "no emulated network");
}

TEST(ConditionText, SaysWhoIsSlow) {
  EXPECT_EQ(Condition("straggler", "none"), "no straggler");
  EXPECT_EQ(Condition("straggler", "kind=permanent,factor=20"), "worker 0 slowed 20 times");
  EXPECT_EQ(Condition("straggler", "kind=rotating,factor=2,every=5"),
            "one worker after the other slowed 2 times, 5 steps each");
  EXPECT_EQ(Condition("straggler", "kind=random,factor=20,probability=0.1"),
            "every worker slowed 20 times in 10 % of its steps, at random");
}

TEST(ConditionText, OtherKeysAreWordsWithUnits) {
  EXPECT_EQ(Condition("bucket-mb", "4"), "buckets of 4 MiB");
  EXPECT_EQ(Condition("model", "profile:vgg16"), "model profile:vgg16");
  EXPECT_EQ(Condition("compute-ms", "30"), "30 ms of compute");
  EXPECT_EQ(Condition("batch-per-worker", "32"), "32 samples a worker");
  EXPECT_EQ(Condition("link", "1Gbps"), "at 1 Gbit/s (declared)");
  EXPECT_EQ(Condition("link", "0"), "no declared link");
  EXPECT_EQ(Condition("bucket-mb", "4KiB"), "buckets of 4 KiB");
  EXPECT_EQ(Condition("bucket-mb", "0"), "a bucket for each tensor");
  EXPECT_EQ(Condition("steps", "1"), "1 step");
  EXPECT_EQ(Condition("lr", "0.1"), "learning rate 0.1");
  EXPECT_EQ(Condition("hidden", "64,32"), "hidden 64 32");
  EXPECT_EQ(Condition("overlap", "off"), "overlap off");
}

TEST(ConditionText, NeverHasAKeyWithAnEqualsSign) {
  const RunSpec spec(TestCatalog());
  for (const SpecKey& key : TestCatalog().keys()) {
    const std::string text = ConditionText(key, spec);
    EXPECT_EQ(text.find('='), std::string::npos) << text;
    EXPECT_EQ(text.find('_'), std::string::npos) << text;
  }
}

TEST(ConditionText, TheRateFollowsTheNoun) {
  EXPECT_EQ(AfterNoun({"30 ms of compute", "at 1 Gbit/s"}), " at 1 Gbit/s, 30 ms of compute");
  EXPECT_EQ(AfterNoun({"model mlp", "no straggler"}), ", model mlp, no straggler");
  EXPECT_EQ(AfterNoun({}), "");
}

TEST(ConditionText, AColumnSaysTheKeyOnce) {
  EXPECT_EQ(KeyTitle("compute_ms"), "compute");
  EXPECT_EQ(KeyTitle("link_bits_per_s"), "link");
  EXPECT_EQ(KeyTitle("weight_decay"), "weight decay");
  EXPECT_EQ(ValueText("network", "at 1 Gbit/s under bbr"), "1 Gbit/s under bbr");
  EXPECT_EQ(ValueText("model", "model mlp"), "mlp");
  EXPECT_EQ(ValueText("straggler", "no straggler"), "no straggler");
}

TEST(ConditionText, DifferentNetworksHaveDifferentTexts) {
  std::set<std::string> texts;
  for (const char* network :
       {"1Gbps", "rates=1Gbps", "hosts=2,rate=1Gbps", "rate=1Gbps,latency=1us",
        "rate=1Gbps,latency=1us,jitter=1us", "rate=1Gbps,loss=0.1", "rate=1Gbps,servers=workers",
        "rate=1Gbps,congestion=bbr", "rate=1Gbps,racks=2,uplink=1Gbps"}) {
    texts.insert(Condition("network", network));
  }
  EXPECT_EQ(texts.size(), 8U) << "a single rate in a list is the same network";
}

}  // namespace
}  // namespace ringside
