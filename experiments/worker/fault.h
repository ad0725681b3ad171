#ifndef RINGSIDE_EXPERIMENTS_WORKER_FAULT_H_
#define RINGSIDE_EXPERIMENTS_WORKER_FAULT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "ringside/common/training/model.h"

namespace ringside {

/// A fault that a test makes a worker commit at one step of the first generation. The variable
/// RINGSIDE_FAULT names it as "KIND@rankR:stepS"; nothing sets that variable in normal use.
struct Fault {
  enum class Kind {
    kKill,    ///< "kill": SIGKILL to itself before the step.
    kExit,    ///< "exit": exit(0) before the step, without a report.
    kFreeze,  ///< "freeze": SIGSTOP to itself before the step.
    kThrow,   ///< "throw": an error of our own before the step.
    kNan,     ///< "nan": the step's loss is not a number.
    kInf,     ///< "inf": the step's gradient of the first parameter of a bucket is infinite.
    kHuge,    ///< "huge": that gradient is 1e38. Two such ones overflow.
    kFlip,    ///< "flip": a bit of a parameter flips before the forward pass reads it.
  };
  Kind kind = Kind::kKill;
  int rank = 0;
  std::int64_t step = 0;

  /// Returns nothing for empty text. Throws `ConfigError` for text that names no fault.
  static std::optional<Fault> Parse(std::string_view text);
  /// Reads RINGSIDE_FAULT from this process's environment.
  static std::optional<Fault> FromEnvironment();
};

/// Whether a fault of this kind strikes inside the model (`MakeFaultyModel`).
bool IsOfModel(Fault::Kind kind);

/// Carries out a fault that strikes before a step. Ignores other kinds, ranks and steps.
void InjectFaultBefore(const std::optional<Fault>& fault, int rank, std::int64_t step);

/// Returns a model that has the fault, whatever its rank. Borrows `inner`.
std::unique_ptr<Model> MakeFaultyModel(Model& inner, const Fault& fault);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_FAULT_H_
