#include "ringside/experiments/worker/fault.h"

#include <signal.h>

#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "ringside/common/core/errors.h"
#include "ringside/common/strategy/strategy_decorator.h"
#include "ringside/common/training/forwarding_model.h"

namespace ringside {
namespace {

struct KindName {
  const char* name;
  Fault::Kind kind;
};
constexpr std::array kKinds{
    KindName{"kill", Fault::Kind::kKill},     KindName{"exit", Fault::Kind::kExit},
    KindName{"freeze", Fault::Kind::kFreeze}, KindName{"throw", Fault::Kind::kThrow},
    KindName{"nan", Fault::Kind::kNan},       KindName{"inf", Fault::Kind::kInf},
    KindName{"huge", Fault::Kind::kHuge},     KindName{"flip", Fault::Kind::kFlip},
};

constexpr std::uint32_t kFlippedBit = 1U << 20U;  // an eighth of the value, or less

/// Harms the buckets that a model awaits and submits.
class HarmfulStrategy : public StrategyDecorator {
 public:
  HarmfulStrategy(Strategy& inner, Fault::Kind kind) : StrategyDecorator(inner), kind_(kind) {}

  void Await(const Bucket& bucket) override {
    inner().Await(bucket);
    if (kind_ != Fault::Kind::kFlip || bucket.index != 0 || done_) return;
    done_ = true;
    float& value = bucket.params.front();
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ kFlippedBit);
  }
  void Submit(const Bucket& bucket) override {
    if (kind_ == Fault::Kind::kInf) bucket.grads[0] = std::numeric_limits<float>::infinity();
    if (kind_ == Fault::Kind::kHuge) bucket.grads[0] = 1e38F;
    inner().Submit(bucket);
  }

 private:
  const Fault::Kind kind_;
  bool done_ = false;
};

class FaultyModel : public ForwardingModel {
 public:
  FaultyModel(Model& inner, const Fault& fault) : ForwardingModel(inner), fault_(fault) {}

  double ForwardBackward(const Batch& batch, Strategy& strategy) override {
    if (batch.step != fault_.step) return inner().ForwardBackward(batch, strategy);
    HarmfulStrategy harmful(strategy, fault_.kind);
    const double loss = inner().ForwardBackward(batch, harmful);
    return fault_.kind == Fault::Kind::kNan ? std::numeric_limits<double>::quiet_NaN() : loss;
  }

 private:
  const Fault fault_;
};

}  // namespace

std::optional<Fault> Fault::Parse(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const std::string copy(text);
  std::array<char, 16> name{};
  Fault fault;
  long long step = 0;
  int used = 0;
  if (std::sscanf(copy.c_str(), "%15[a-z]@rank%d:step%lld%n", name.data(), &fault.rank, &step,
                  &used) == 3 &&
      used == static_cast<int>(copy.size())) {
    fault.step = step;
    for (const KindName& candidate : kKinds) {
      if (std::string_view(name.data()) == candidate.name) {
        fault.kind = candidate.kind;
        return fault;
      }
    }
  }
  throw ConfigError(
      "RINGSIDE_FAULT=" + copy +
      ": expected kill, exit, freeze, throw, nan, inf, huge or flip, then @rankR:stepS");
}

std::optional<Fault> Fault::FromEnvironment() {
  const char* text = std::getenv("RINGSIDE_FAULT");
  return text == nullptr ? std::nullopt : Parse(text);
}

bool IsOfModel(Fault::Kind kind) {
  return kind == Fault::Kind::kNan || kind == Fault::Kind::kInf || kind == Fault::Kind::kHuge ||
         kind == Fault::Kind::kFlip;
}

void InjectFaultBefore(const std::optional<Fault>& fault, int rank, std::int64_t step) {
  if (!fault || fault->rank != rank || fault->step != step) return;
  switch (fault->kind) {
    case Fault::Kind::kKill:
      ::raise(SIGKILL);
      break;
    case Fault::Kind::kExit:
      std::_Exit(0);
    case Fault::Kind::kFreeze:
      ::raise(SIGSTOP);
      break;
    case Fault::Kind::kThrow:
      throw InternalError("the fault that RINGSIDE_FAULT asked for");
    case Fault::Kind::kNan:
    case Fault::Kind::kInf:
    case Fault::Kind::kHuge:
    case Fault::Kind::kFlip:
      break;  // inside the model
  }
}

std::unique_ptr<Model> MakeFaultyModel(Model& inner, const Fault& fault) {
  return std::make_unique<FaultyModel>(inner, fault);
}

}  // namespace ringside
