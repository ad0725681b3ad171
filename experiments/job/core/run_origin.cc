#include "ringside/experiments/job/core/run_origin.h"

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <span>

namespace ringside {
namespace {

/// What each worker does again that had reported `done` steps, where the next generation begins
/// with step `first`.
std::int64_t Repeated(std::span<const std::int64_t> done, std::int64_t first) {
  std::int64_t repeated = 0;
  for (const std::int64_t steps : done) repeated += std::max<std::int64_t>(steps - first, 0);
  return repeated;
}

nlohmann::json GenerationJson(const FailedGeneration& generation,
                              const std::optional<std::int64_t>& next_first) {
  const std::span<const std::int64_t> done(generation.steps.done);
  const std::span<const std::int64_t> of_worker_0 =
      done.first(std::min<std::size_t>(1, done.size()));
  nlohmann::json json{
      {"workers", generation.workers}, {"steps_done", done.empty() ? 0 : done.front()},
      {"steps_repeated", nullptr},     {"updates_repeated", nullptr},
      {"seconds", generation.seconds}, {"error", generation.error},
      {"failure", generation.failure}, {"last_words", generation.last_words}};
  if (!next_first) return json;
  json["steps_repeated"] = Repeated(of_worker_0, *next_first);
  if (generation.updates_alone) json["updates_repeated"] = Repeated(done, *next_first);
  return json;
}

}  // namespace

void RunOrigin::AddTo(nlohmann::json& summary, std::optional<std::int64_t> first_step) const {
  summary["rerun_of"] = rerun_of.empty() ? nlohmann::json() : nlohmann::json(rerun_of);
  summary["attempt"] = earlier.size() + 1;
  summary["earlier_attempts"] = earlier;
  summary["restarts"] = generations.size();
  // A generation that reported no step began where the one after it did.
  std::vector<nlohmann::json> failed;
  for (const FailedGeneration& generation : std::views::reverse(generations)) {
    failed.push_back(GenerationJson(generation, first_step));
    if (generation.steps.first) first_step = generation.steps.first;
  }
  std::ranges::reverse(failed);
  summary["failed_generations"] = failed;
  if (asked) summary["run_id"] = RunId(*asked);
}

}  // namespace ringside
