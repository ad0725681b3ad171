#include "ringside/common/base/finite.h"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(CopyFinite, CopiesWhatIsFinite) {
  std::vector<float> from(10'000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i) - 5000;
  std::vector<float> to(from.size());
  EXPECT_FALSE(CopyFinite(from, to));
  EXPECT_EQ(to, from);
  EXPECT_FALSE(CopyFinite(from, from)) << "onto itself";
  EXPECT_FALSE(CopyFinite({}, {}));
}

TEST(CopyFinite, NamesTheFirstThatIsNot) {
  for (const std::size_t at : {0U, 4095U, 4096U, 9'999U}) {
    std::vector<float> from(10'000, 1.0F);
    from[at] = kNan;
    from.back() = kInf;
    std::vector<float> to(from.size());
    EXPECT_EQ(CopyFinite(from, to), at);
    EXPECT_EQ(std::count(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(at), 1.0F),
              static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace
}  // namespace ringside
