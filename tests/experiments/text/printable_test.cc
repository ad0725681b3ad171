#include "ringside/experiments/text/printable.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/trusted_path.h"
#include "ringside/experiments/system/output/console.h"
#include "tests/common/temporary_directory.h"

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

TEST(ValidUtf8, ReplacesWhatIsInvalidAndLeavesTheRest) {
  EXPECT_EQ(ValidUtf8("Grüße, 漢字\n"), "Grüße, 漢字\n");
  EXPECT_EQ(ValidUtf8("cut \xc3"), "cut \xef\xbf\xbd");
  EXPECT_EQ(ValidUtf8("a\xff"
                      "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(ValidUtf8(""), "");
}

TEST(PrintText, MakesTheWholeTextPrintable) {
  ::testing::internal::CaptureStdout();
  PrintText(stdout, "{}: {}\n", "run\033[2J", 7);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "run\\x1b[2J: 7\n");
}

TEST(Console, MakesItsBlockAndItsProgressPrintable) {
  const TemporaryDirectory directory;
  const FileDescriptor terminal = OpenForWriting(directory.Path("terminal"), O_APPEND);
  {
    Console console({.in_place = true, .fd = terminal.get()});
    console.SetBlock({"row\033]0;x\a"});
    console.Progress("step\033]0;x\a");
  }
  const std::string shown = ReadFile(directory.Path("terminal"), 4096);
  EXPECT_NE(shown.find("row\\x1b]0;x\\x07"), std::string::npos) << shown;
  EXPECT_NE(shown.find("step\\x1b]0;x\\x07"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("\033]0"), std::string::npos);
}

}  // namespace
}  // namespace ringside
