#include "ringside/experiments/job/launcher/worker_rows.h"

namespace ringside {

WorkerRows::WorkerRows(const std::string& bundle_dir, int workers, Clock::time_point begin)
    : begin_(begin), metrics_(bundle_dir, workers), workers_(static_cast<std::size_t>(workers)) {}

std::optional<std::string> WorkerRows::TakeFrom(
    JobState& job_state, const std::function<void(std::span<const StepRecord>)>& see) {
  for (int rank = 0; rank < static_cast<int>(workers_.size()); ++rank) {
    const Beat rows = job_state.TakeRows({Role::kWorker, rank});
    if (rows.steps.empty() && rows.evaluations.empty()) continue;
    if (!startup_seconds_) {
      startup_seconds_ = std::chrono::duration<double>(Clock::now() - begin_).count();
    }
    metrics_.Add(rank, rows.steps, rows.evaluations);
    progress_.Add(rank, rows.steps);
    see(rows.steps);
    auto& steps = workers_[static_cast<std::size_t>(rank)].steps;
    steps.insert(steps.end(), rows.steps.begin(), rows.steps.end());
    if (!rows.evaluations.empty()) evaluation_ = rows.evaluations.back();
  }
  if (!storage_error_.empty()) return std::nullopt;
  storage_error_ = metrics_.Failure();
  if (storage_error_.empty()) return std::nullopt;
  return storage_error_;
}

void WorkerRows::Drain() {
  metrics_.Drain();
  if (storage_error_.empty()) storage_error_ = metrics_.Failure();
}

ReportedSteps WorkerRows::steps() const {
  ReportedSteps reported;
  for (const WorkerRecord& worker : workers_) {
    reported.done.push_back(worker.steps.empty() ? 0 : worker.steps.back().step + 1);
  }
  const std::vector<StepRecord>& first = workers_.front().steps;
  if (!first.empty()) reported.first = first.front().step;
  return reported;
}

}  // namespace ringside
