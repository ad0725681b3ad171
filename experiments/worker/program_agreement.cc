#include "ringside/experiments/worker/program_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ringside/common/core/errors.h"

namespace ringside {
namespace {

using nlohmann::json;

constexpr const char* kTensorsKey = "job/tensors";
constexpr const char* kUpdateKey = "job/update";

/// What the first worker to come has set.
struct FirstValue {
  int worker;
  json value;
};

/// Sets the key, unless another worker has set it. Returns that worker's value if it differs.
std::optional<FirstValue> ValueOfAnother(Store& store, const char* key, int rank,
                                         const json& mine) {
  try {
    store.Set(key, json({{"worker", rank}, {"value", mine}}).dump());
    return std::nullopt;
  } catch (const CommError&) {
    constexpr std::chrono::seconds kAgreementTimeout{5};
    const json first = json::parse(store.Get(key, Deadline::After(kAgreementTimeout)));
    if (first.at("worker") == rank) throw;
    if (first.at("value") == mine) return std::nullopt;
    return FirstValue{first.at("worker"), first.at("value")};
  }
}

json TensorsJson(std::span<const TensorSpec> tensors) {
  json list = json::array();
  for (const TensorSpec& tensor : tensors) list.push_back({tensor.name, tensor.shape});
  return list;
}

/// "'fc.weight' of shape [10,20]", "absent"
std::string TensorText(const json& list, std::size_t index) {
  if (index >= list.size()) return "absent";
  return fmt::format("'{}' of shape {}", list[index][0].get<std::string>(), list[index][1].dump());
}

json UpdateJson(const ModelUpdate& update) {
  if (update.by_model) return {{"by_model", true}};
  const OptimizerOptions& optimizer = update.optimizer;
  return {{"kind", static_cast<int>(optimizer.kind)},
          {"momentum", optimizer.momentum},
          {"nesterov", optimizer.nesterov},
          {"weight_decay", optimizer.weight_decay},
          {"beta1", optimizer.beta1},
          {"beta2", optimizer.beta2},
          {"epsilon", optimizer.epsilon},
          {"gradient_scale", optimizer.gradient_scale},
          {"learning_rate", update.rates->At(0)}};
}

}  // namespace

void AgreeOnTensors(Store& store, int rank, std::span<const TensorSpec> tensors) {
  const json mine = TensorsJson(tensors);
  const auto first = ValueOfAnother(store, kTensorsKey, rank, mine);
  if (!first) return;
  const std::size_t count = std::max(mine.size(), first->value.size());
  std::size_t index = 0;
  while (index < count && TensorText(mine, index) == TensorText(first->value, index)) ++index;
  throw ConfigError(fmt::format(
      "the programs of two workers have different parameters: parameter {} is {} in worker {}, {} "
      "in worker {}",
      index, TensorText(mine, index), rank, TensorText(first->value, index), first->worker));
}

void AgreeOnUpdate(Store& store, int rank, const ModelUpdate& update) {
  const json mine = UpdateJson(update);
  const auto first = ValueOfAnother(store, kUpdateKey, rank, mine);
  if (!first) return;
  throw ConfigError(fmt::format(
      "the programs of two workers have different optimizers: {} in worker {}, {} in worker {}",
      mine.dump(), rank, first->value.dump(), first->worker));
}

AgreedUpdate WaitForUpdate(Store& store, const Deadline& deadline) {
  const json update = json::parse(store.Get(kUpdateKey, deadline)).at("value");
  // Servers that only sum have no use for an optimizer.
  if (update.contains("by_model")) return {};
  AgreedUpdate agreed;
  agreed.optimizer = {.kind = static_cast<OptimizerOptions::Kind>(update.at("kind").get<int>()),
                      .momentum = update.at("momentum"),
                      .nesterov = update.at("nesterov"),
                      .weight_decay = update.at("weight_decay"),
                      .beta1 = update.at("beta1"),
                      .beta2 = update.at("beta2"),
                      .epsilon = update.at("epsilon"),
                      .gradient_scale = update.at("gradient_scale")};
  agreed.learning_rate = update.at("learning_rate");
  return agreed;
}

}  // namespace ringside
