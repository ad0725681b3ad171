#include "ringside/experiments/worker/fault.h"

#include <signal.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "ringside/common/core/errors.h"
#include "ringside/common/training/forwarding_model.h"

namespace ringside {
namespace {

struct KindName {
  const char* name;
  Fault::Kind kind;
};
constexpr std::array kKinds{
    KindName{"kill", Fault::Kind::kKill},     KindName{"exit", Fault::Kind::kExit},
    KindName{"freeze", Fault::Kind::kFreeze}, KindName{"nan", Fault::Kind::kNan},
    KindName{"throw", Fault::Kind::kThrow},
};

class FaultyModel : public ForwardingModel {
 public:
  FaultyModel(Model& inner, std::int64_t nan_step) : ForwardingModel(inner), nan_step_(nan_step) {}

  double ForwardBackward(const Batch& batch, Strategy& strategy) override {
    const double loss = inner().ForwardBackward(batch, strategy);
    return batch.step == nan_step_ ? std::numeric_limits<double>::quiet_NaN() : loss;
  }

 private:
  std::int64_t nan_step_;
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
  throw ConfigError("RINGSIDE_FAULT=" + copy +
                    ": expected kill, exit, freeze, nan or throw, then @rankR:stepS");
}

std::optional<Fault> Fault::FromEnvironment() {
  const char* text = std::getenv("RINGSIDE_FAULT");
  return text == nullptr ? std::nullopt : Parse(text);
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
      break;
  }
}

std::unique_ptr<Model> MakeFaultyModel(Model& inner, std::int64_t nan_step) {
  return std::make_unique<FaultyModel>(inner, nan_step);
}

}  // namespace ringside
