// `ringside lesson` from outside: its list, its refusals, grades, and what a signal leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class LessonCommand : public RingsideProcessTest {};

/// `ringside lesson 2 --quick` at a terminal, as a person uses it. Its stdout is the file ".out".
class LessonAtATerminal : public LessonCommand {
 protected:
  void SetUp() override {
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
    ASSERT_GE(pid_, 0) << std::strerror(errno);
    if (pid_ > 0) return;
    const std::string command =
        "cd '" + scratch() + "' && exec " RINGSIDE_EXECUTABLE " lesson 2 --quick >.out";
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  void TearDown() override {
    if (terminal_ >= 0) ::close(terminal_);
    if (pid_ > 0) End();
  }

  /// Waits until the terminal shows `text` once more.
  void Expect(const std::string& text) {
    std::size_t found = shown_.find(text, seen_);
    while (found == std::string::npos && Read()) found = shown_.find(text, seen_);
    ASSERT_NE(found, std::string::npos) << "no '" << text << "' in: " << shown_.substr(seen_);
    seen_ = found + text.size();
  }
  void Type(const std::string& keys) const {
    ASSERT_EQ(::write(terminal_, keys.data(), keys.size()), std::ssize(keys));
  }
  /// Waits for the end. Returns the exit code, or 128 + signal.
  int End() {
    while (Read()) {
    }
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string Out() const {
    std::ifstream in(scratch() + "/.out");
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  /// False: the program has ended, or is silent for a minute.
  bool Read() {
    pollfd ready{terminal_, POLLIN, 0};
    std::array<char, 4096> buffer{};
    if (::poll(&ready, 1, 60'000) != 1) return false;
    const ssize_t count = ::read(terminal_, buffer.data(), buffer.size());
    if (count > 0) shown_.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0;
  }

  pid_t pid_ = -1;
  int terminal_ = -1;
  std::string shown_;
  std::size_t seen_ = 0;
};

constexpr char kPrompt[] = "Your prediction (";

TEST_F(LessonAtATerminal, AsksAgainAfterWhatIsNoNumber) {
  Expect(kPrompt);
  Type("seven\n");
  Expect("'seven' is not a number. Type a number, such as 2.5.");
  Expect(kPrompt);
  Type("1.75\n");
  Expect("[1/3] ringside train");
  EXPECT_EQ(End(), 0);
  EXPECT_THAT(Out(), HasSubstr("right, within the tolerance of 2 %"));
}

TEST_F(LessonAtATerminal, GivesUpAfterThreeLines) {
  for (int i = 0; i < 3; ++i) {
    Expect(kPrompt);
    Type("many\n");
  }
  Expect("the prediction: 'many' is not a number");
  EXPECT_EQ(End(), 2);
  EXPECT_FALSE(std::filesystem::exists(scratch() + "/results"));
}

TEST_F(LessonAtATerminal, TheEndOfTheInputIsNoPrediction) {
  Expect(kPrompt);
  Type("seven\n");
  Expect(kPrompt);
  Type("\x04");
  Expect("[1/3] ringside train");
  EXPECT_EQ(End(), 0);
  EXPECT_THAT(Out(), Not(HasSubstr("tolerance")));
}

TEST_F(LessonAtATerminal, CtrlCEndsThePrompt) {
  Expect(kPrompt);
  Type("\x03");
  EXPECT_EQ(End(), 130);
  EXPECT_FALSE(std::filesystem::exists(scratch() + "/results"));
}

TEST_F(LessonCommand, ListsTheLessons) {
  const ProcessResult text = RunRingside("lesson");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("10  frozen-server"));
  const json list = json::parse(RunRingside("lesson --json").out);
  EXPECT_EQ(list["schema"], "ringside.lessons/1");
  EXPECT_EQ(list["lessons"].size(), 10U);
}

TEST_F(LessonCommand, RefusesWhatIsNoLessonAndNoPrediction) {
  for (const auto& [args, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {"lesson 11", "there is no lesson 11"},
           {"lesson 0", "there is no lesson 0"},
           {"lesson ring", "'ring'"},
           {"lesson 2 --predict many", "--predict"},
           {"lesson 2 --predict nan", "--predict"},
           {"lesson 2 3", "unexpected argument '3'"},
           {"lesson 2 --guess 3", "unknown flag"}}) {
    const ProcessResult result = RunRingside(args);
    EXPECT_EQ(result.exit_code, 2) << args;
    EXPECT_THAT(result.err, HasSubstr(message)) << args;
    EXPECT_THAT(result.out, IsEmpty()) << args;
  }
  EXPECT_FALSE(std::filesystem::exists(scratch() + "/results"));
}

TEST_F(LessonCommand, GradesByItsExitCode) {
  const ProcessResult wrong = RunRingside("lesson 2 --quick --json --predict 7");
  EXPECT_EQ(wrong.exit_code, 5) << wrong.err;
  EXPECT_EQ(json::parse(wrong.out)["within"], false);
  EXPECT_THAT(wrong.err, HasSubstr("[1/3] ringside train --strategy ring")) << "progress";
  // The same directory again.
  const ProcessResult right = RunRingside("lesson 2 --quick --quiet --predict 1.75");
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_THAT(right.err, IsEmpty());
  EXPECT_THAT(right.out, HasSubstr("right, within the tolerance of 2 %"));
  EXPECT_TRUE(std::filesystem::exists(scratch() + "/results/lessons/2/workers-8/summary.json"));
}

TEST_F(LessonCommand, AnswersWithoutAPredictionOffATerminal) {
  const ProcessResult result = RunRingside("lesson 2 --quick --json --out 'a folder'");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("no prediction is graded"));
  const json answer = json::parse(result.out);
  EXPECT_TRUE(answer["prediction"].is_null());
  EXPECT_TRUE(answer["within"].is_null());
  EXPECT_EQ(answer["runs"][0], "a folder/workers-2");
  EXPECT_THAT(answer["commands"][0].get<std::string>(), HasSubstr("--out 'a folder/workers-2'"));
}

TEST_F(LessonCommand, ALessonThatNeedsLinksIsNotAskedWithoutThem) {
  const ProcessResult result = RunRingside("lesson 5 --loopback --predict 315");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--loopback: this lesson needs emulated links"));
}

TEST_F(LessonCommand, ASignalEndsTheLessonAndItsRun) {
  const ProcessResult result =
      RunRingside("lesson 7 --predict 3 --out runs", "timeout --preserve-status --signal=INT 2");
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr("interrupted"));
  EXPECT_THAT(result.out, IsEmpty());
}

TEST_F(LessonCommand, ARunThatFailsIsNamedWithItsLine) {
  const ProcessResult result =
      RunRingside("lesson 2 --quick --predict 1", "RINGSIDE_TIMEOUT=never");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("a run ended with code 2"));
  EXPECT_THAT(result.err, HasSubstr("RINGSIDE_TIMEOUT"));
}

}  // namespace
}  // namespace ringside
