#include "ringside/common/measure/activity.h"

namespace ringside {

bool Activity::waits_for_others() const {
  switch (kind) {
    case Kind::kStart:
    case Kind::kHeld:
    case Kind::kAwait:
    case Kind::kSettle:
    case Kind::kStop:
      return true;
    case Kind::kUnknown:
    case Kind::kData:
    case Kind::kCompute:
    case Kind::kEvaluate:
    case Kind::kCheckpoint:
      return false;
  }
  return false;
}

std::string Activity::Text() const {
  const std::string of_step = "step " + std::to_string(step);
  const std::string done = std::to_string(step) + " steps";
  switch (kind) {
    case Kind::kUnknown:
      return {};
    case Kind::kStart:
      return "meets the other workers";
    case Kind::kHeld:
      return "waits to begin " + of_step;
    case Kind::kData:
      return "waits for the data of " + of_step;
    case Kind::kCompute:
      return "computes " + of_step;
    case Kind::kAwait:
      return "waits for bucket " + std::to_string(bucket) + " in " + of_step;
    case Kind::kSettle:
      return "waits for the other workers after " + done;
    case Kind::kEvaluate:
      return "evaluates after " + done;
    case Kind::kCheckpoint:
      return "is at the checkpoint after " + done;
    case Kind::kStop:
      return "takes leave of the other workers";
  }
  return {};
}

void ActivityBoard::Set(const Activity& activity, Clock::time_point since) {
  const std::lock_guard lock(mutex_);
  entry_ = {activity, since};
}

ActivityBoard::Entry ActivityBoard::Get() const {
  const std::lock_guard lock(mutex_);
  return entry_;
}

}  // namespace ringside
