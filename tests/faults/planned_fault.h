#ifndef RINGSIDE_TESTS_FAULTS_PLANNED_FAULT_H_
#define RINGSIDE_TESTS_FAULTS_PLANNED_FAULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ringside/common/base/fault_point.h"

namespace ringside {

/// A fault of one member at a point of one step. The variable RINGSIDE_FAULT plans it for a job of
/// `fault_program`, as KIND@MEMBER:stepS, or KIND@MEMBER:stepS:POINT, or
/// KIND@MEMBER:stepS:POINT:bucketB. MEMBER is rank2, server0 or any.
///
/// It happens in the first generation. With the variable RINGSIDE_FAULT_ONCE, a path, it happens in
/// any generation, but only to the process that makes this file.
struct PlannedFault {
  enum class Kind {
    kKill,    ///< "kill": SIGKILL.
    kExit,    ///< "exit": exit(0), without a report.
    kFreeze,  ///< "freeze": SIGSTOP.
    kThrow,   ///< "throw": an `InternalError`.
    kBloat,   ///< "bloat": the process takes 256 MiB of memory, and writes there.
    kCut,     ///< "cut": a `CommError` that misses server 0.
    kStall,   ///< "stall": this thread does nothing for two seconds.
    kHang,    ///< "hang": this thread does nothing until the process is killed. Heartbeats go on.
    kNan,     ///< "nan": the step's loss is not a number.
    kInf,     ///< "inf": the gradient of the first parameter of each bucket is infinite.
    kHuge,    ///< "huge": that gradient is 1e38. Two such ones overflow.
    kFlip,    ///< "flip": a bit of the first parameter flips before the forward pass reads it.
  };
  enum class Who { kWorker, kServer, kAny };

  Kind kind = Kind::kKill;
  Who who = Who::kWorker;
  int member = 0;  ///< Its rank or index.
  std::int64_t step = 0;
  std::string point{};  ///< One of `fault_points`.
  std::optional<int> bucket{};

  /// Throws `ConfigError` for text that plans no fault.
  static PlannedFault Parse(std::string_view text);
};

/// Makes the fault happen that the environment of this process plans, if any. Ends the program with
/// a message if the environment is wrong.
void InstallPlannedFault();

}  // namespace ringside

#endif  // RINGSIDE_TESTS_FAULTS_PLANNED_FAULT_H_
