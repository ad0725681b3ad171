#ifndef RINGSIDE_EXPERIMENTS_WORKER_FAULT_H_
#define RINGSIDE_EXPERIMENTS_WORKER_FAULT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "common/model.h"

namespace ringside {

/// For tests alone: what a worker does wrong, at which step. Named by the variable RINGSIDE_FAULT,
/// "KIND@rankR:stepS", which nothing sets in normal use.
struct Fault {
  enum class Kind {
    kKill,    ///< "kill": SIGKILL to itself before the step.
    kExit,    ///< "exit": exit(0) before the step, without a word.
    kFreeze,  ///< "freeze": SIGSTOP to itself before the step.
    kNan,     ///< "nan": the step's loss is not a number.
    kThrow,   ///< "throw": an error of our own before the step.
  };
  Kind kind = Kind::kKill;
  int rank = 0;
  std::int64_t step = 0;

  /// Empty for empty text. Throws `ConfigError`.
  static std::optional<Fault> Parse(std::string_view text);
  /// Of this process's environment.
  static std::optional<Fault> FromEnvironment();
};

/// Carries out a fault that strikes before a step. Nothing for the other kinds, ranks and steps.
void StrikeBefore(const std::optional<Fault>& fault, int rank, std::int64_t step);

/// A model whose loss is not a number at the fault's step. Borrows `inner`.
std::unique_ptr<Model> MakeFaultyModel(Model& inner, std::int64_t nan_step);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_FAULT_H_
