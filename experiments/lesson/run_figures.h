#ifndef RINGSIDE_EXPERIMENTS_LESSON_RUN_FIGURES_H_
#define RINGSIDE_EXPERIMENTS_LESSON_RUN_FIGURES_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ringside/experiments/lesson/lesson.h"

namespace ringside {

/// What several lessons plan and read. Pure functions; any thread may call them. They throw
/// `DataError` where a result lacks a figure.

/// A run of `ringside train` with its bundle in the directory of the lesson.
LessonRun TrainRun(const LessonSetting& setting, const std::string& name, const std::string& flags);

/// The result of a run.
const nlohmann::json& ResultOf(const LessonResults& results, const std::string& name);

/// Why a run cannot judge a prediction: the machine limited it, or nobody could tell whether it
/// did. Empty where it can.
std::string LimitText(const nlohmann::json& result);

/// A number of a summary; `path` is "step_ms/p10".
double NumberAt(const nlohmann::json& result, const std::string& path);

/// The step of a run in milliseconds: the 10th percentile of its counted steps. Other programs on
/// the machine can only make a step longer, so the short ones say most about the links.
double StepOf(const LessonResults& results, const std::string& name);

/// The ratio of the steps of two runs.
double StepRatio(const LessonResults& results, const std::string& a, const std::string& b);

/// The least and the largest ratio of two steps between their 10th and 90th percentiles.
LessonInterval StepRatioInterval(const LessonResults& results, const std::string& a,
                                 const std::string& b);

/// The step of a run, beside its bound where it has one.
Figure StepFigure(const LessonResults& results, const std::string& name, const std::string& what);

/// Adds a claim and whether the runs show it.
void AddCheck(Answer& answer, const std::string& claim, bool held);

/// The bytes of the model's parameters in fp32.
double ModelBytes(const nlohmann::json& summary);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LESSON_RUN_FIGURES_H_
