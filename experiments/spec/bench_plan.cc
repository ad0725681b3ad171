#include "ringside/experiments/spec/bench_plan.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/text/json_integer.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

constexpr std::int64_t kFloat = sizeof(float);
constexpr std::int64_t kMaxSize = std::int64_t{4} << 30;

}  // namespace

std::vector<std::int64_t> BenchSizes(std::int64_t smallest, std::int64_t largest,
                                     std::int64_t factor) {
  if (smallest < kFloat) {
    throw ConfigError(fmt::format("{} B hold no float; begin with at least 4 B", smallest));
  }
  if (largest > kMaxSize) {
    throw ConfigError(fmt::format("{} are more than {}", FormatBytes(static_cast<double>(largest)),
                                  FormatBytes(static_cast<double>(kMaxSize))));
  }
  if (smallest > largest) {
    throw ConfigError(fmt::format("the smallest size, {}, is above the largest, {}",
                                  FormatBytes(static_cast<double>(smallest)),
                                  FormatBytes(static_cast<double>(largest))));
  }
  if (factor < 2 && smallest != largest) {
    throw ConfigError(
        fmt::format("a factor of {} does not make sizes grow; give at least 2", factor));
  }
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = smallest; size <= largest; size *= factor) {
    sizes.push_back(size / kFloat * kFloat);
    if (factor < 2 || size > largest / factor) break;
  }
  return sizes;
}

void to_json(nlohmann::json& json, const BenchPlan& plan) {
  json = {{"sizes", plan.sizes},
          {"warmup", plan.warmup ? nlohmann::json(*plan.warmup) : nlohmann::json()},
          {"iterations", plan.iterations},
          {"check", plan.check},
          {"on_device", plan.on_device}};
}

void from_json(const nlohmann::json& json, BenchPlan& plan) {
  plan.sizes.clear();
  for (const nlohmann::json& size : json.at("sizes")) {
    plan.sizes.push_back(RequireInteger<std::int64_t>(size));
  }
  const nlohmann::json& warmup = json.at("warmup");
  plan.warmup = warmup.is_null() ? std::nullopt : std::optional(RequireInteger<int>(warmup));
  plan.iterations = RequireInteger<decltype(plan.iterations)>(json.at("iterations"));
  plan.check = json.at("check");
  plan.on_device = json.at("on_device");
}

}  // namespace ringside
