#include "ringside/experiments/demo/page_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

/// What the training thread does in a step.
bool IsOfStep(const RecordedSpan& span, int workers) {
  return span.process < workers && span.lane == kComputeLane && span.kind != SpanKind::kEvaluate &&
         span.bucket < 0;
}

/// When each step began. A step's gradient may still be on its way when the next step begins, so
/// transfers say less than the training threads.
std::map<std::int64_t, std::int64_t> BeginsOf(const RecordedRun& run) {
  std::map<std::int64_t, std::int64_t> begins;
  const auto add = [&](std::int64_t step, std::int64_t begin) {
    const auto [at, added] = begins.try_emplace(step, begin);
    at->second = std::min(at->second, begin);
  };
  for (const RecordedSpan& span : run.spans) {
    if (IsOfStep(span, run.workers())) add(span.step, span.begin);
  }
  if (!begins.empty()) return begins;
  for (const ChunkTransfer& transfer : run.traffic.transfers) add(transfer.step, transfer.first());
  return begins;
}

std::int64_t LastTime(const RecordedRun& run) {
  std::int64_t last = 0;
  for (const RecordedSpan& span : run.spans) last = std::max(last, span.end);
  for (const ChunkTransfer& transfer : run.traffic.transfers)
    last = std::max(last, transfer.last());
  return last;
}

std::size_t EventsIn(const RecordedRun& run, std::int64_t begin, std::int64_t end) {
  const PageWindow window{.steps = {}, .begin = begin, .end = end};
  const auto spans = std::ranges::count_if(
      run.spans, [&](const RecordedSpan& span) { return window.Contains(span.begin, span.end); });
  const auto transfers =
      std::ranges::count_if(run.traffic.transfers, [&](const ChunkTransfer& transfer) {
        return window.Contains(transfer.first(), transfer.last());
      });
  const auto updates = std::ranges::count_if(
      run.traffic.updates,
      [&](const ParameterUpdate& update) { return window.Contains(update.begin, update.end); });
  // The page shows the optimizers of workers as updates, too (`PageRun`).
  const auto of_workers = std::ranges::count_if(run.spans, [&](const RecordedSpan& span) {
    return run.servers() == 0 && span.kind == SpanKind::kApply &&
           window.Contains(span.begin, span.end);
  });
  return static_cast<std::size_t>(spans + transfers + updates + of_workers);
}

/// The steps of the record, with their times.
std::vector<PageWindow::Step> StepsOf(const RecordedRun& run) {
  std::vector<PageWindow::Step> steps;
  const std::int64_t last = LastTime(run);
  for (const auto& [step, begin] : BeginsOf(run)) {
    if (!steps.empty()) steps.back().end = begin;
    steps.push_back({step, begin, last});
  }
  return steps;
}

std::size_t FirstOf(const RecordedRun& run, const std::vector<PageWindow::Step>& steps,
                    const PageSteps& wanted) {
  if (wanted.first) {
    const auto found = std::ranges::find(steps, *wanted.first, &PageWindow::Step::step);
    if (found != steps.end()) return static_cast<std::size_t>(found - steps.begin());
    throw Error(fmt::format("the record has no step {}; it has {} to {}", *wanted.first,
                            steps.front().step, steps.back().step));
  }
  const auto warmup = run.summary.find("warmup_steps");
  const std::int64_t after =
      warmup != run.summary.end() && warmup->is_number_integer() ? warmup->get<std::int64_t>() : 0;
  const auto counted =
      std::ranges::find_if(steps, [&](const PageWindow::Step& step) { return step.step >= after; });
  // The last step has no next one that would show where it ends.
  if (counted == steps.end() || counted + 1 == steps.end()) return 0;
  return static_cast<std::size_t>(counted - steps.begin());
}

}  // namespace

PageWindow ChooseWindow(const RecordedRun& run, const PageSteps& wanted) {
  const std::vector<PageWindow::Step> steps = StepsOf(run);
  PageWindow window;
  if (steps.empty()) return window;
  const std::size_t first = FirstOf(run, steps, wanted);
  window.begin = steps[first].begin;
  for (std::size_t i = first; i < steps.size(); ++i) {
    const bool last = i + 1 == steps.size() && i > first;  // it ends with the run
    const bool full = static_cast<std::int64_t>(window.steps.size()) >= wanted.most ||
                      EventsIn(run, window.begin, steps[i].end) > wanted.most_events;
    if (!window.steps.empty() && (last || full)) break;
    window.steps.push_back(steps[i]);
    window.end = steps[i].end;
  }
  return window;
}

}  // namespace ringside
