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
  EXPECT_EQ(Condition("network", "100Mbps"), "links of 100 Mbit/s");
  EXPECT_EQ(Condition("network", "rate=1Gbps,racks=2,uplink=4Gbps"),
            "links of 1 Gbit/s in 2 racks with uplinks of 4 Gbit/s");
  EXPECT_EQ(Condition("network", "rate=1Gbps,rates=250Mbps"),
            "links of 1 Gbit/s but that of host 0, 250 Mbit/s");
  EXPECT_EQ(Condition("network", "rate=1Gbps,rates=250Mbps:2.5Gbps"),
            "links of 1 Gbit/s but those of the first hosts, 250 Mbit/s, 2.5 Gbit/s");
  EXPECT_EQ(Condition("network", "rates=250Mbps:1Gbps"), "links of 250 Mbit/s, 1 Gbit/s");
  EXPECT_EQ(Condition("network", "hosts=4,rate=1Gbps,congestion=reno"),
            "links of 1 Gbit/s, workers on 4 hosts under reno");
  EXPECT_EQ(Condition("network", "rate=1500kbps,latency=50us,jitter=10us,loss=0.01"),
            "links of 1.5 Mbit/s, 50 us of latency, 10 us of jitter, 1 % of packets lost");
  EXPECT_EQ(Condition("network", "rate=1Gbps,servers=workers"),
            "links of 1 Gbit/s, servers on the workers' hosts");
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

TEST(ConditionText, OtherKeysStandAsAFlagSpellsThem) {
  EXPECT_EQ(Condition("bucket-mb", "4"), "bucket-mb 4");
  EXPECT_EQ(Condition("model", "profile:vgg16"), "model profile:vgg16");
  EXPECT_EQ(Condition("compute-ms", "30"), "30 ms of compute");
  EXPECT_EQ(Condition("batch-per-worker", "32"), "batch-per-worker 32");
  EXPECT_EQ(Condition("link", "1Gbps"), "declared links of 1 Gbit/s");
  EXPECT_EQ(Condition("link", "0"), "no declared link");
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
