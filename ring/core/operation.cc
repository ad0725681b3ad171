#include "ringside/ring/core/operation.h"

#include <fmt/format.h>

namespace ringside {

std::string Operation::Text() const {
  switch (object_) {
    case Object::kNone:
      break;
    case Object::kBucket:
      if (number_ == BucketMessage::kNoBucket) return fmt::format("{} a trial", verb_);
      return fmt::format("{} bucket {}, step {}", verb_, number_, step_);
    case Object::kWorker:
      return fmt::format("{} worker {}", verb_, number_);
  }
  return std::string(verb_);
}

}  // namespace ringside
