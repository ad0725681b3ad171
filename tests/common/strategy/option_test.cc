#include "ringside/common/strategy/option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/strategy/strategy_options.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

enum class Color { kRed, kBlue };

constexpr IntegerOption kCount{
    .name = "count", .placeholder = "N", .help = "how many", .default_value = 3, .least = 1};
constexpr RealOption kShare{.name = "share",
                            .placeholder = "X",
                            .help = "how much",
                            .default_value = 0.5,
                            .least = 0,
                            .most = 1,
                            .above_least = true};
constexpr SwitchOption kFast{.name = "fast", .help = "do not wait"};
constexpr TextOption kLabel{.name = "label", .placeholder = "NAME", .help = "a name"};
constexpr ChoiceOption<Color, 2> kColor{.name = "color",
                                        .placeholder = "NAME",
                                        .help = "which",
                                        .noun = "color",
                                        .choices = {"red", "blue"},
                                        .default_value = Color::kBlue};

template <typename F>
std::string MessageOf(const F& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "taken";
}

TEST(StrategyOptionsTest, HaveTheDefaultsOfTheirDeclarationsUntilTheyAreSet) {
  StrategyOptions options;
  EXPECT_EQ(options.Get(kCount), 3);
  EXPECT_EQ(options.Get(kShare), 0.5);
  EXPECT_FALSE(options.Get(kFast));
  EXPECT_EQ(options.Get(kLabel), "");
  EXPECT_EQ(options.Get(kColor), Color::kBlue);
  options.Set(kCount, 7);
  options.Set(kShare, 1);
  options.Set(kFast, true);
  options.Set(kLabel, "a");
  options.Set(kColor, Color::kRed);
  EXPECT_EQ(options.Get(kCount), 7);
  EXPECT_EQ(options.Get(kShare), 1);
  EXPECT_TRUE(options.Get(kFast));
  EXPECT_EQ(options.Get(kLabel), "a");
  EXPECT_EQ(options.Get(kColor), Color::kRed);
  EXPECT_EQ(std::get<std::string>(options.ValueOf(kColor)), "red");
}

TEST(StrategyOptionsTest, RefuseValuesOutOfRangeByName) {
  StrategyOptions options;
  EXPECT_EQ(MessageOf([&] { options.Set(kCount, 0); }),
            "count: 0 is out of range; give a number that is 1 or more");
  EXPECT_EQ(MessageOf([&] { options.Set(kShare, 0); }),
            "share: 0 is out of range; give a number that is above 0 and at most 1");
  EXPECT_EQ(MessageOf([&] { options.SetValue(kColor, std::string("green")); }),
            "color: no color is called 'green'; there are red, blue");
  EXPECT_EQ(MessageOf([&] { options.SetValue(kFast, std::int64_t{1}); }),
            "fast: true or false expected");
  EXPECT_EQ(options.Get(kCount), 3) << "nothing was changed";
}

TEST(StrategyOptionsTest, SayWhatALimitMeans) {
  IntegerOption hinted = kCount;
  hinted.hint = "1 is alone";
  StrategyOptions options;
  EXPECT_EQ(MessageOf([&] { options.Set(hinted, 0); }),
            "count: 0 is out of range; give a number that is 1 or more (1 is alone)");
}

TEST(StrategyOptionsTest, AStrategySeesItsOwnOptionsAlone) {
  StrategyOptions all;
  all.Set(kCount, 7);
  all.Set(kFast, true);
  StrategyOptions own = all.OnlyDeclared("mine", {kCount});
  EXPECT_EQ(own.Get(kCount), 7);
  EXPECT_THAT(MessageOf([&] { (void)own.Get(kFast); }),
              HasSubstr("strategy 'mine' does not declare the option 'fast'"));
  EXPECT_THAT(MessageOf([&] { own.Set(kLabel, "a"); }), HasSubstr("'label'"));
}

TEST(StrategyOptionsTest, RefuseToReadAValueAsOneOfAnotherType) {
  StrategyOptions options;
  options.SetUnchecked(kCount, 0.5);
  EXPECT_EQ(MessageOf([&] { (void)options.Get(kCount); }),
            "option 'count' holds a number, but is read as a whole number");
  options.SetUnchecked(kColor, true);
  EXPECT_EQ(MessageOf([&] { (void)options.Get(kColor); }),
            "option 'color' holds true or false, but is read as text");
  options.SetUnchecked(kColor, std::string("green"));
  EXPECT_EQ(MessageOf([&] { (void)options.Get(kColor); }),
            "color: no color is called 'green'; there are red, blue");
  options.SetUnchecked(kLabel, std::int64_t{1});
  EXPECT_EQ(MessageOf([&] { (void)options.Get(kLabel); }),
            "option 'label' holds a whole number, but is read as text");
}

TEST(OptionDeclarationTest, TakesOneOfTheNamesOfATable) {
  const auto label = OptionDeclaration::OneOf(kLabel, "label", {"thin", "fat"});
  EXPECT_EQ(MessageOf([&] { label.Check(std::string("thick")); }),
            "no label is called 'thick'; there are thin, fat");
  StrategyOptions options;
  options.SetValue(label, std::string("fat"));
  EXPECT_EQ(options.Get(kLabel), "fat") << "read by its constant";
  EXPECT_EQ(MessageOf([&] { options.SetValue(label, std::string("thick")); }),
            "label: no label is called 'thick'; there are thin, fat");
}

TEST(OptionDeclarationTest, IsEqualWhereAllOfItIs) {
  IntegerOption other = kCount;
  EXPECT_EQ(OptionDeclaration(kCount), OptionDeclaration(other));
  other.default_value = 4;
  EXPECT_FALSE(OptionDeclaration(kCount) == OptionDeclaration(other));
}

}  // namespace
}  // namespace ringside
