#include "ringside/experiments/cli/options/option_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

OptionSet Table() {
  OptionSet options("train", "trains", {{"ringside train --workers 2", "with two workers"}});
  options.TakePositional({"FILE", "a file", false});
  options.AddGroup("The run");
  options.Add({"workers", "N", "worker processes", "2"});
  options.Add({"work-dir", "DIR", "a directory", ""});
  options.Add({"json", "", "for programs", ""});
  options.Add({"min-bytes", "SIZE", "the smallest", "4KiB", "b"});
  return options;
}

std::string RefusalOf(const std::vector<std::string>& args) {
  try {
    (void)Table().Parse(args);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "taken";
}

TEST(OptionSet, ReadsFlagsAndDefaults) {
  const ParsedOptions parsed = Table().Parse({"--workers", "4", "--json", "spec.yaml"});
  EXPECT_EQ(parsed.Get("workers"), "4");
  EXPECT_TRUE(parsed.Has("workers"));
  EXPECT_TRUE(parsed.IsOn("json"));
  EXPECT_EQ(parsed.positional(), "spec.yaml");
  const ParsedOptions none = Table().Parse({});
  EXPECT_EQ(none.Get("workers"), "2");
  EXPECT_FALSE(none.Has("workers"));
  EXPECT_FALSE(none.IsOn("json"));
}

TEST(OptionSet, TakesValuesAfterAnEqualsSignAndNegativeOnes) {
  EXPECT_EQ(Table().Parse({"--workers=7"}).Get("workers"), "7");
  EXPECT_EQ(Table().Parse({"--workers", "-1"}).Get("workers"), "-1");
  EXPECT_FALSE(Table().Parse({"--json=false"}).IsOn("json"));
}

TEST(OptionSet, TakesSeveralWords) {
  OptionSet options("compare", "compares", {});
  options.TakePositional({"A", "one"});
  options.TakePositional({"B", "another"});
  options.TakePositional({"C", "a third", false});
  EXPECT_THAT(options.Parse({"x", "y"}).positionals(), ::testing::ElementsAre("x", "y"));
  EXPECT_THAT(options.Parse({"x", "y", "z"}).positionals(), ::testing::SizeIs(3));
  EXPECT_THROW((void)options.Parse({"x"}), UsageError);
  EXPECT_THROW((void)options.Parse({"x", "y", "z", "w"}), UsageError);
  EXPECT_THAT(options.Help(Painter(false)), HasSubstr("ringside compare A B [C] [options]"));
}

TEST(OptionSet, TakesTheWordsAfterTwoDashesAsTheyAre) {
  OptionSet options = Table();
  options.TakeRest({"COMMAND", "a command"});
  const ParsedOptions parsed =
      options.Parse({"--workers", "4", "--", "python3", "--json", "-h", "--", "x"});
  EXPECT_EQ(parsed.Get("workers"), "4");
  EXPECT_FALSE(parsed.help());
  EXPECT_FALSE(parsed.IsOn("json"));
  EXPECT_THAT(parsed.rest(), ::testing::ElementsAre("python3", "--json", "-h", "--", "x"));
  EXPECT_TRUE(options.Parse({"file"}).rest().empty());
  try {
    (void)options.Parse({"--workers", "4", "--"});
    ADD_FAILURE() << "taken without a program";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--: name the program to run");
  }
  EXPECT_TRUE(options.Parse({"-h", "--"}).help());
  EXPECT_THAT(options.Help(Painter(false)), HasSubstr("[FILE] [options] [-- COMMAND]"));
  EXPECT_TRUE(Table().Parse({"--", "file"}).rest().empty()) << "no verb but those that take it";
}

TEST(OptionSet, TakesShortForms) {
  EXPECT_EQ(Table().Parse({"-b", "8KiB"}).Get("min-bytes"), "8KiB");
  EXPECT_EQ(Table().Parse({"-b8KiB"}).Get("min-bytes"), "8KiB");
  EXPECT_EQ(Table().Parse({"--min-bytes", "8KiB"}).Get("min-bytes"), "8KiB");
  EXPECT_THAT(RefusalOf({"-b", "1", "--min-bytes", "2"}), HasSubstr("more than once"));
  EXPECT_THAT(Table().Help(Painter(false)), HasSubstr("-b, --min-bytes SIZE"));
}

TEST(OptionSet, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(RefusalOf({"--wrokers", "4"}), HasSubstr("did you mean '--workers'"));
  EXPECT_THAT(RefusalOf({"--wrokers=4"}), HasSubstr("did you mean '--workers'"));
  EXPECT_THAT(RefusalOf({"-q"}), HasSubstr("unknown flag '-q'"));
  EXPECT_THAT(RefusalOf({"--zzzzzzz"}), HasSubstr("unknown flag '--zzzzzzz'"));
}

TEST(OptionSet, GuessesNoAbbreviations) {
  EXPECT_THAT(RefusalOf({"--worker", "4"}), HasSubstr("unknown flag"));
  EXPECT_THAT(RefusalOf({"--js"}), HasSubstr("unknown flag"));
}

TEST(OptionSet, RefusesFlagsTwiceOrWithoutValueAndStrayWords) {
  EXPECT_THAT(RefusalOf({"--workers", "1", "--workers", "2"}), HasSubstr("more than once"));
  EXPECT_THAT(RefusalOf({"--workers"}), HasSubstr("needs a value"));
  EXPECT_THAT(RefusalOf({"a", "b"}), HasSubstr("unexpected argument 'b'"));
  EXPECT_THAT(RefusalOf({"--color", "blue"}), HasSubstr("--color"));
}

TEST(OptionSet, AsksForARequiredPositional) {
  OptionSet options("report", "reports", {});
  options.TakePositional({"DIR", "results"});
  EXPECT_THROW((void)options.Parse({}), UsageError);
  EXPECT_EQ(options.Parse({"results"}).positional(), "results");
}

TEST(OptionSet, HelpWinsOverEverythingElse) {
  EXPECT_TRUE(Table().Parse({"--nonsense", "-h"}).help());
  EXPECT_TRUE(Table().Parse({"--help"}).help());
}

TEST(OptionSet, HelpStartsWithExamplesAndNamesEveryFlag) {
  const OptionSet options = Table();
  const std::string help = options.Help(Painter(false));
  EXPECT_LT(help.find("Examples:"), help.find("Usage:"));
  for (const std::string_view name : options.Names()) {
    EXPECT_THAT(help, HasSubstr("--" + std::string(name)));
  }
  EXPECT_THAT(help, HasSubstr("(default: 2)"));
  EXPECT_EQ(help.find('\033'), std::string::npos);
  EXPECT_NE(options.Help(Painter(true)).find('\033'), std::string::npos);
}

TEST(Color, FollowsTheConventions) {
  EXPECT_TRUE(UseColor(ColorMode::kAuto, true, {}));
  EXPECT_FALSE(UseColor(ColorMode::kAuto, false, {}));
  EXPECT_FALSE(UseColor(ColorMode::kAuto, true, {{"NO_COLOR", "1"}}));
  EXPECT_TRUE(UseColor(ColorMode::kAuto, true, {{"NO_COLOR", ""}}));
  EXPECT_FALSE(UseColor(ColorMode::kAuto, true, {{"TERM", "dumb"}}));
  EXPECT_TRUE(UseColor(ColorMode::kAlways, false, {{"NO_COLOR", "1"}}));
  EXPECT_FALSE(UseColor(ColorMode::kNever, true, {}));
}

}  // namespace
}  // namespace ringside
