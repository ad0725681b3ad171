#include "ringside/experiments/text/units.h"

#include <gtest/gtest.h>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

TEST(Units, ReadsSizes) {
  EXPECT_EQ(ParseBytes("512"), 512);
  EXPECT_EQ(ParseBytes("64KiB"), 65536);
  EXPECT_EQ(ParseBytes("4MiB"), 4 << 20);
  EXPECT_EQ(ParseBytes("1.5 MiB"), 3 << 19);
  EXPECT_EQ(ParseBytes("1kB"), 1000);
  EXPECT_EQ(ParseBytes("2GB"), 2'000'000'000);
  EXPECT_EQ(ParseBytes("4", 1 << 20), 4 << 20);
  EXPECT_EQ(ParseBytes("4KiB", 1 << 20), 4096);
  EXPECT_EQ(ParseBytes("0"), 0);
}

TEST(Units, ReadsRates) {
  EXPECT_EQ(ParseBitsPerSecond("1Gbps"), 1e9);
  EXPECT_EQ(ParseBitsPerSecond("25Gbit/s"), 25e9);
  EXPECT_EQ(ParseBitsPerSecond("100 Mbps"), 1e8);
  EXPECT_EQ(ParseBitsPerSecond("1000"), 1000);
}

TEST(Units, ReadsDurations) {
  EXPECT_DOUBLE_EQ(ParseSeconds("2s"), 2);
  EXPECT_DOUBLE_EQ(ParseSeconds("500us"), 500e-6);
  EXPECT_DOUBLE_EQ(ParseSeconds("1.5ms"), 1.5e-3);
  EXPECT_DOUBLE_EQ(ParseSeconds("3min"), 180);
  EXPECT_DOUBLE_EQ(ParseSeconds("2h"), 7200);
  EXPECT_DOUBLE_EQ(ParseSeconds("30"), 30);
}

TEST(Units, ReadsNumbersListsAndSwitches) {
  EXPECT_EQ(ParseInteger("-17"), -17);
  EXPECT_DOUBLE_EQ(ParseReal("1e-3"), 1e-3);
  EXPECT_EQ(ParseIntegerList("128, 64"), (std::vector<int>{128, 64}));
  EXPECT_TRUE(ParseIntegerList("").empty());
  EXPECT_EQ(ParseWordList("ring, ps-sync"), (std::vector<std::string>{"ring", "ps-sync"}));
  EXPECT_TRUE(ParseSwitch("yes"));
  EXPECT_FALSE(ParseSwitch("off"));
}

TEST(Units, ReadsPairs) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(ParsePairs("kind=rotating, factor = 2"),
            (Pairs{{"kind", "rotating"}, {"factor", "2"}}));
  EXPECT_EQ(ParsePairs("1Gbps,hosts=2"), (Pairs{{"", "1Gbps"}, {"hosts", "2"}}));
  for (const char* text : {"", "a=1,", "a=", "=1", "a=1,a=2", "1,2"}) {
    EXPECT_THROW(ParsePairs(text), ConfigError) << text;
  }
}

TEST(Units, RefusesWhatIsNone) {
  for (const char* text : {"", "x", "4 Mib", "4Mi", "-1", "1e300", "0.5", "nan", "inf", "4MiB!"}) {
    EXPECT_THROW(ParseBytes(text), ConfigError) << text;
  }
  for (const char* text : {"", "fast", "1 Gps", "1GbpsX"}) {
    EXPECT_THROW(ParseBitsPerSecond(text), ConfigError) << text;
  }
  for (const char* text : {"", "soon", "2 sec", "2ss"}) {
    EXPECT_THROW(ParseSeconds(text), ConfigError) << text;
  }
  for (const char* text : {"", "few", "5 percent", "5%%"}) {
    EXPECT_THROW(ParseFraction(text), ConfigError) << text;
  }
  for (const char* text : {"", "1.5", "2x", "99999999999999999999"}) {
    EXPECT_THROW(ParseInteger(text), ConfigError) << text;
  }
  EXPECT_THROW(ParseReal("1.0.0"), ConfigError);
  EXPECT_THROW(ParseIntegerList("1,,2"), ConfigError);
  EXPECT_THROW(ParseIntegerList("99999999999"), ConfigError);
  EXPECT_THROW(ParseWordList("ring,,ps"), ConfigError);
  EXPECT_THROW(ParseSwitch("maybe"), ConfigError);
}

TEST(Units, ReadsFractions) {
  EXPECT_DOUBLE_EQ(ParseFraction("0.05"), 0.05);
  EXPECT_DOUBLE_EQ(ParseFraction("5%"), 0.05);
  EXPECT_DOUBLE_EQ(ParseFraction("97.5 %"), 0.975);
}

TEST(Units, WritesForPeople) {
  EXPECT_EQ(FormatBytes(17), "17 B");
  EXPECT_EQ(FormatBytes(1536), "1.50 KiB");
  EXPECT_EQ(FormatBytes(double{4 << 20}), "4.00 MiB");
  EXPECT_EQ(FormatBytes(200.0 * (1 << 20)), "200 MiB");
  EXPECT_EQ(FormatCount(7), "7");
  EXPECT_EQ(FormatCount(850), "850");
  EXPECT_EQ(FormatCount(85'002), "85,002");
  EXPECT_EQ(FormatCount(-1'234'567), "-1,234,567");
  EXPECT_EQ(FormatSeconds(0.25), "250 ms");
  EXPECT_EQ(FormatSeconds(3.21), "3.2 s");
  EXPECT_EQ(FormatSeconds(125), "2 min 5 s");
  EXPECT_EQ(FormatSeconds(7260), "2 h 1 min");
}

}  // namespace
}  // namespace ringside
