#include "ringside/experiments/bench/bench_fidelity.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "ringside/experiments/job/fidelity/fidelity_json.h"

namespace ringside {
namespace {

using nlohmann::json;

bool Has(const json& job, const json& verdict) { return job.at("verdict") == verdict; }

/// Smaller for a worse job.
std::pair<int, double> Order(const json& job) {
  const json& idle = job.at("least_idle_share");
  const int verdict = Has(job, "limited") ? 0 : Has(job, nullptr) ? 1 : 2;
  return {verdict, idle.is_number() ? idle.get<double>() : 1.0};
}

}  // namespace

json WorstFidelity(std::span<const json> jobs) {
  if (jobs.empty()) return nullptr;
  json worst = *std::ranges::min_element(jobs, {}, Order);
  const auto count = [&](const json& verdict) {
    return std::ranges::count_if(jobs, [&](const json& job) { return Has(job, verdict); });
  };
  worst["jobs"] = jobs.size();
  worst["limited_jobs"] = count("limited");
  worst["not_judged_jobs"] = count(nullptr);
  return worst;
}

std::string BenchFidelityText(const json& worst) {
  if (!worst.is_object()) return "";
  const std::string text = FidelityText(worst);
  if (Has(worst, "ok")) return text + "\n";
  const std::string_view what = Has(worst, "limited") ? "limited" : "not judged";
  const json& jobs = worst.at(Has(worst, "limited") ? "limited_jobs" : "not_judged_jobs");
  return fmt::format("{} ({}; {} of {} jobs {})\n", text, worst.at("strategy").get<std::string>(),
                     jobs.get<std::int64_t>(), worst.at("jobs").get<std::int64_t>(), what);
}

}  // namespace ringside
