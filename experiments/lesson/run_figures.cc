#include "ringside/experiments/lesson/run_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/text/words.h"

namespace ringside {

using nlohmann::json;

LessonRun TrainRun(const LessonSetting& setting, const std::string& name,
                   const std::string& flags) {
  LessonRun run{.name = name, .words = {"train"}, .bundle = setting.directory + "/" + name};
  for (std::string& word : SplitWords(flags)) run.words.push_back(std::move(word));
  for (const char* word : {"--timeline", "--force", "--out"}) run.words.emplace_back(word);
  run.words.push_back(run.bundle);
  return run;
}

const json& ResultOf(const LessonResults& results, const std::string& name) {
  const auto found = results.find(name);
  if (found == results.end()) throw DataError(name, "this run of the lesson has no result");
  return found->second;
}

std::string LimitText(const json& result) {
  const json::json_pointer verdict("/fidelity/verdict");
  if (!result.contains(verdict) || result.at(verdict) == "ok") return "";
  if (result.at(verdict).is_null()) {
    return "not judged: " +
           result.at(json::json_pointer("/fidelity/not_judged")).get<std::string>();
  }
  const auto reasons =
      result.at(json::json_pointer("/fidelity/limited_by")).get<std::vector<std::string>>();
  return fmt::format("{}", fmt::join(reasons, "; "));
}

double NumberAt(const json& result, const std::string& path) {
  const json::json_pointer pointer("/" + path);
  if (!result.contains(pointer) || !result.at(pointer).is_number()) {
    throw DataError(path, "the result of a run has no such number");
  }
  return result.at(pointer).get<double>();
}

double StepOf(const LessonResults& results, const std::string& name) {
  return NumberAt(ResultOf(results, name), "step_ms/p10");
}

double StepRatio(const LessonResults& results, const std::string& a, const std::string& b) {
  return StepOf(results, a) / StepOf(results, b);
}

LessonInterval StepRatioInterval(const LessonResults& results, const std::string& a,
                                 const std::string& b) {
  const json& first = ResultOf(results, a);
  const json& second = ResultOf(results, b);
  return {NumberAt(first, "step_ms/p10") / NumberAt(second, "step_ms/p90"),
          NumberAt(first, "step_ms/p90") / NumberAt(second, "step_ms/p10"),
          "10th to 90th percentile of the steps"};
}

Figure StepFigure(const LessonResults& results, const std::string& name, const std::string& what) {
  const json& summary = ResultOf(results, name);
  Figure figure{what + ": step", StepOf(results, name), "ms"};
  if (summary.contains("bound_ms") && summary["bound_ms"].is_number()) {
    figure.bound = summary["bound_ms"].get<double>();
  }
  return figure;
}

void AddCheck(Answer& answer, const std::string& claim, bool held) {
  answer.checks.push_back({claim, held});
}

double ModelBytes(const json& summary) { return NumberAt(summary, "parameters") * sizeof(float); }

}  // namespace ringside
