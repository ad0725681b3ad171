#include "ringside/experiments/text/json_depth.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace ringside {
namespace {

std::string Nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonDepth, CountsWhatIsOpenAtOneTime) {
  EXPECT_FALSE(IsTooDeepJson(""));
  EXPECT_FALSE(IsTooDeepJson(Nested(kMaxJsonDepth)));
  EXPECT_TRUE(IsTooDeepJson(Nested(kMaxJsonDepth + 1)));
  EXPECT_TRUE(IsTooDeepJson("{\"a\": " + Nested(kMaxJsonDepth) + "}"));
  std::string beside = "[";
  for (int i = 0; i < 1000; ++i) beside += "{\"a\": []}, ";
  EXPECT_FALSE(IsTooDeepJson(beside + "1]"));
}

TEST(JsonDepth, BracketsInTextsDoNotCount) {
  EXPECT_FALSE(IsTooDeepJson("[\"" + std::string(1000, '[') + "\"]"));
  EXPECT_FALSE(IsTooDeepJson(R"(["\")" + std::string(1000, '{') + "\"]"));
  EXPECT_TRUE(IsTooDeepJson(R"(["\\", )" + Nested(kMaxJsonDepth) + "]"));
}

}  // namespace
}  // namespace ringside
