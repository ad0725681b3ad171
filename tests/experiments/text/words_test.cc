#include "ringside/experiments/text/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SplitWords, SplitsAtBlanks) {
  EXPECT_THAT(SplitWords(""), IsEmpty());
  EXPECT_THAT(SplitWords(" \t "), IsEmpty());
  EXPECT_THAT(SplitWords("python3 train.py\t--lr 0.1\n"),
              ElementsAre("python3", "train.py", "--lr", "0.1"));
}

TEST(SplitWords, KeepsWhatIsQuoted) {
  EXPECT_THAT(SplitWords("a 'b c' \"d e\" f\\ g"), ElementsAre("a", "b c", "d e", "f g"));
  EXPECT_THAT(SplitWords("''"), ElementsAre(""));
  EXPECT_THAT(SplitWords("a''b\"c\""), ElementsAre("abc"));
  EXPECT_THAT(SplitWords("'a\\b' \"a\\b\" \"a\\\"b\" \"a\\\\b\""),
              ElementsAre("a\\b", "a\\b", "a\"b", "a\\b"));
}

TEST(SplitWords, RefusesWhatDoesNotEnd) {
  for (const char* line : {"a 'b", "\"", "a\\", "\"a\\\""}) {
    EXPECT_THROW(static_cast<void>(SplitWords(line)), ConfigError) << line;
  }
}

TEST(JoinWords, MakesALineOfTheSameWords) {
  const std::vector<std::string> words{"python3", "a b",   "",  "it's",    "\"x\"",
                                       "a\\b",    "$HOME", "é", "--lr=0.1"};
  EXPECT_EQ(SplitWords(JoinWords(words)), words);
  EXPECT_EQ(JoinWords(std::vector<std::string>{"python3", "train.py", "a b"}),
            "python3 train.py 'a b'");
  EXPECT_EQ(JoinWords({}), "");
}

}  // namespace
}  // namespace ringside
