#include "ringside/experiments/worker/program_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using nlohmann::json;

constexpr const char* kTensorsKey = "job/tensors";
constexpr const char* kUpdateKey = "job/update";

/// What a worker has set, or wants to set.
struct ValueOfWorker {
  int worker;
  json value;
};

/// Sets the key, unless another worker has set it. Returns that worker's value if it differs.
std::optional<ValueOfWorker> ValueOfAnother(Store& store, const char* key, int rank,
                                            const json& mine) {
  try {
    store.Set(key, json({{"worker", rank}, {"value", mine}}).dump());
    return std::nullopt;
  } catch (const CommError&) {
    constexpr std::chrono::seconds kAgreementTimeout{5};
    const json first = json::parse(store.Get(key, Deadline::After(kAgreementTimeout)));
    if (first.at("worker") == rank) throw;
    if (first.at("value") == mine) return std::nullopt;
    return ValueOfWorker{first.at("worker"), first.at("value")};
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

struct UpdateField {
  const char* key;
  const char* word;
};

/// What tells optimizers of one kind apart.
constexpr std::array<UpdateField, 8> kUpdateFields{{{"learning_rate", "lr"},
                                                    {"momentum", "momentum"},
                                                    {"nesterov", "nesterov"},
                                                    {"weight_decay", "weight decay"},
                                                    {"beta1", "beta1"},
                                                    {"beta2", "beta2"},
                                                    {"epsilon", "epsilon"},
                                                    {"gradient_scale", "gradient scale"}}};

std::string KindName(const json& update) {
  switch (static_cast<OptimizerOptions::Kind>(update.at("kind").get<int>())) {
    case OptimizerOptions::Kind::kSgd:
      return "SGD";
    case OptimizerOptions::Kind::kAdam:
      return "Adam";
    case OptimizerOptions::Kind::kAdamW:
      return "AdamW";
  }
  throw InternalError("an optimizer of no kind");
}

std::string UpdateName(const json& update) {
  return update.contains("by_model") ? "update=program" : "update=strategy";
}

/// "lr 0.1 in worker 0, 0.2 in worker 1"
std::string Difference(const ValueOfWorker& a, const ValueOfWorker& b) {
  const auto say = [&](const std::string& of_a, const std::string& of_b) {
    return fmt::format("{} in worker {}, {} in worker {}", of_a, a.worker, of_b, b.worker);
  };
  if (UpdateName(a.value) != UpdateName(b.value)) {
    return say(UpdateName(a.value), UpdateName(b.value));
  }
  // The numbers of two kinds say nothing beside each other.
  if (KindName(a.value) != KindName(b.value)) return say(KindName(a.value), KindName(b.value));
  std::vector<std::string> differences;
  for (const UpdateField& field : kUpdateFields) {
    const json& of_a = a.value.at(field.key);
    const json& of_b = b.value.at(field.key);
    if (of_a == of_b) continue;
    differences.push_back(fmt::format("{} {}", field.word, say(of_a.dump(), of_b.dump())));
  }
  return fmt::format("{}", fmt::join(differences, "; "));
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
  const ValueOfWorker here{rank, mine};
  const bool before = first->worker < rank;
  throw ConfigError("the programs of two workers have different optimizers: " +
                    Difference(before ? *first : here, before ? here : *first));
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
