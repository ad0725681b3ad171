#include "ringside/experiments/system/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

TEST(Printable, LeavesText) {
  EXPECT_EQ(Printable("two lines\nand a\ttab, Grüße, 漢字"), "two lines\nand a\ttab, Grüße, 漢字");
  EXPECT_EQ(Printable(""), "");
}

TEST(Printable, ShowsControlCharacters) {
  EXPECT_EQ(Printable("a\x1b[2Jb\r\x07\x7f"), "a\\x1b[2Jb\\x0d\\x07\\x7f");
  EXPECT_EQ(Printable(std::string("nul\0", 4)), "nul\\x00");
  // U+009B does what ESC [ does.
  EXPECT_EQ(Printable("a\xc2\x9b"
                      "2J"),
            "a\\x9b2J");
  EXPECT_EQ(Printable("cut \xc2"), "cut \xc2");
}

}  // namespace
}  // namespace ringside
