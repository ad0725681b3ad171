#include <fmt/format.h>

#include <array>

#include "ringside/experiments/lesson/lesson_table.h"
#include "ringside/experiments/lesson/run_figures.h"

namespace ringside {
namespace {

constexpr std::array kCodecs{"fp32", "int8", "topk:0.01", "powersgd:4"};
constexpr int kAsked = 2;  // fp32 and int8

/// "topk:0.01" is no good name of a folder.
std::string NameOf(const std::string& codec, const std::string& what) {
  return codec.substr(0, codec.find(':')) + "-" + what;
}

LessonRun LinkRun(const LessonSetting& setting, const std::string& codec, const std::string& what,
                  const std::string& rate) {
  return TrainRun(
      setting, NameOf(codec, what),
      fmt::format("--strategy ring --workers 2 --model profile:mobilenet-v2 "
                  "--compute-ms 120 --steps {} --warmup-steps 1 --codec {}{}",
                  setting.quick ? 5 : 6, codec, setting.emulated ? " --network " + rate : ""));
}

LessonRun AccuracyRun(const LessonSetting& setting, const std::string& codec) {
  return TrainRun(setting, NameOf(codec, "digits"),
                  fmt::format("--strategy ring --workers 2 --model mlp --hidden 64 --data digits "
                              "--epochs 5 --momentum 0.9 --codec {}",
                              codec));
}

std::vector<LessonRun> Plan(const LessonSetting& setting) {
  std::vector<LessonRun> runs;
  for (int i = 0; i < static_cast<int>(kCodecs.size()); ++i) {
    if (setting.quick && i >= kAsked) break;
    runs.push_back(LinkRun(setting, kCodecs[i], "slow", "100Mbps"));
    if (setting.quick) continue;
    if (setting.emulated && i < kAsked) {
      runs.push_back(LinkRun(setting, kCodecs[i], "fast", "2Gbps"));
    }
    runs.push_back(AccuracyRun(setting, kCodecs[i]));
  }
  return runs;
}

double SentMegabytes(const LessonResults& results, const std::string& name) {
  return NumberAt(ResultOf(results, name), "bytes_sent_per_worker_per_step") / 1e6;
}

void AddFigures(const LessonResults& results, const std::string& codec, Answer& answer) {
  const std::string slow = NameOf(codec, "slow");
  answer.figures.push_back(
      {codec + ": a worker sends in a step (its kernel's count, with the start of the run)",
       SentMegabytes(results, slow), "MB",
       NumberAt(ResultOf(results, slow), "bound_bytes_sent_per_worker_per_step") / 1e6});
  for (const char* link : {"slow", "fast"}) {
    const std::string name = NameOf(codec, link);
    if (!results.contains(name) || !ResultOf(results, name).at("network").is_string()) continue;
    answer.figures.push_back(StepFigure(results, name, fmt::format("{}, {} link", codec, link)));
  }
  const std::string digits = NameOf(codec, "digits");
  if (!results.contains(digits)) return;
  answer.figures.push_back({codec + ": accuracy on digits",
                            NumberAt(ResultOf(results, digits), "eval_accuracy") * 100, "%"});
}

Answer AnswerOf(const LessonSetting& setting, const LessonResults& results) {
  const std::string plain = NameOf("fp32", "slow");
  const std::string small = NameOf("int8", "slow");
  Answer answer{.bound = 4};
  if (setting.emulated) {
    answer.bound = NumberAt(ResultOf(results, plain), "achievable_ms") /
                   NumberAt(ResultOf(results, small), "achievable_ms");
    answer.value = StepRatio(results, plain, small);
    answer.interval = StepRatioInterval(results, plain, small);
  } else {
    answer.value = SentMegabytes(results, plain) / SentMegabytes(results, small);
  }
  for (const char* codec : kCodecs) {
    if (results.contains(NameOf(codec, "slow"))) AddFigures(results, codec, answer);
  }
  if (setting.emulated && results.contains(NameOf("int8", "fast"))) {
    AddCheck(answer,
             "on the fast link int8 gains less than a third of what it gains on the slow one",
             StepRatio(results, NameOf("fp32", "fast"), NameOf("int8", "fast")) - 1 <
                 (answer.value - 1) / 3);
  }
  return answer;
}

}  // namespace

Lesson CodecsLesson() {
  return {.name = "codecs",
          .question =
              "A step computes for 120 ms, and its gradients need 1.2 s on a slow link. The codec "
              "int8 sends a byte for each number instead of four. How many times as fast is a "
              "step?",
          .quantity = "the step with fp32 over the step with int8, on a link of 100 Mbit/s",
          .unit = "times",
          .tolerance = 0.08,
          .explanation =
              "On the slow link the step is almost all communication, so a quarter of the bytes "
              "makes it nearly 4 times as fast; the compute that nothing hides is the rest. On a "
              "fast link communication hides behind the backward pass, and the codec saves almost "
              "nothing. Top-k sends one number in a hundred with its position, PowerSGD two thin "
              "matrices for each large one. They send far less, and error feedback adds what was "
              "left out to the next gradient. The price is time to encode, and accuracy: the table "
              "shows both. A codec pays where the link is the limit. First find out whether it is.",
          .mistake =
              "Many expect the same gain on every link. The gain cannot be larger than the part of "
              "the step that waits for the link.",
          .links = NeedOfLinks::kBetter,
          .theory =
              "The theory of a step is its bound: no schedule can be faster. The theory of "
              "the answer takes the shortest steps in the order in which buckets become "
              "ready.",
          .plan = Plan,
          .answer = AnswerOf};
}

}  // namespace ringside
