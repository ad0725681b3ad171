#include "ringside/experiments/text/json_integer.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

using nlohmann::json;

TEST(IntegerOf, TakesWhatTheTypeHolds) {
  EXPECT_EQ(IntegerOf<int>(json(7)), 7);
  EXPECT_EQ(IntegerOf<int>(json::parse("-2147483648")), -2147483648);
  EXPECT_EQ(IntegerOf<std::uint64_t>(json::parse("18446744073709551615")), ~std::uint64_t{0});
}

TEST(IntegerOf, TakesNothingElse) {
  for (const char* text :
       {"2147483648", "-2147483649", "18446744073709551615", "7777777777777777777777777771",
        "1e300", "1.5", "1.0", "true", "null", "\"7\"", "[7]", "{}"}) {
    EXPECT_EQ(IntegerOf<int>(json::parse(text)), std::nullopt) << text;
  }
  EXPECT_EQ(IntegerOf<std::uint64_t>(json(-1)), std::nullopt);
}

TEST(RequireInteger, RefusesWithoutTheValue) {
  EXPECT_EQ(RequireInteger<int>(json(7)), 7);
  try {
    RequireInteger<int>(json("secret"));
    FAIL() << "it was taken";
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace ringside
