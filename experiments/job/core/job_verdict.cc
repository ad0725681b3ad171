#include "ringside/experiments/job/core/job_verdict.h"

namespace ringside {

void JobVerdict::Decide(JobStatus status, const std::string& error, std::optional<FailureKind> kind,
                        const std::string& member) {
  if (decided_) return;
  decided_ = true;
  status_ = status;
  error_ = error;
  failure_ = kind;
  if (!kind) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
  failure_record_ = FailureRecord(*kind, member, seconds.count());
}

JobOutcome JobVerdict::Outcome(bool stop_requested) const {
  return {
      .status = status_, .error = error_, .failure = failure_, .stop_requested = stop_requested};
}

std::string OutcomeToText(const JobOutcome& outcome) {
  nlohmann::json failure;
  if (outcome.failure) failure = static_cast<int>(*outcome.failure);
  const nlohmann::json json{{"status", static_cast<int>(outcome.status)},
                            {"error", outcome.error},
                            {"failure", failure},
                            {"stop_requested", outcome.stop_requested}};
  // An error may quote a file's name, which may have any bytes.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

JobOutcome OutcomeFromText(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  JobOutcome outcome{.status = static_cast<JobStatus>(json.at("status").get<int>()),
                     .error = json.at("error").get<std::string>(),
                     .stop_requested = json.at("stop_requested").get<bool>()};
  const auto& failure = json.at("failure");
  if (!failure.is_null()) outcome.failure = static_cast<FailureKind>(failure.get<int>());
  return outcome;
}

}  // namespace ringside
