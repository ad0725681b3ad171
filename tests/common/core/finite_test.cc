#include "ringside/common/core/finite.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace ringside {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(FirstNotFinite, FindsNothingAmongFiniteValues) {
  EXPECT_FALSE(FirstNotFinite({}));
  const std::vector<float> values{0.0F,
                                  -0.0F,
                                  std::numeric_limits<float>::max(),
                                  std::numeric_limits<float>::lowest(),
                                  std::numeric_limits<float>::denorm_min(),
                                  1.0F};
  EXPECT_FALSE(FirstNotFinite(values));
}

TEST(FirstNotFinite, FindsEachKindAtEachPlace) {
  for (const float wrong : {kInf, -kInf, kNan, -kNan}) {
    for (std::size_t at = 0; at < 67; ++at) {
      std::vector<float> values(67, 1.0F);
      values[at] = wrong;
      values.back() = wrong;
      EXPECT_EQ(FirstNotFinite(values), at) << wrong;
    }
  }
}

}  // namespace
}  // namespace ringside
