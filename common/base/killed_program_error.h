#ifndef RINGSIDE_COMMON_BASE_KILLED_PROGRAM_ERROR_H_
#define RINGSIDE_COMMON_BASE_KILLED_PROGRAM_ERROR_H_

#include "ringside/common/base/errors.h"

namespace ringside {

/// A signal ended a program that this process had started to do something for it, such as `tc`.
/// That tells nothing about the machine, so it may be tried again.
class KilledProgramError : public Error {
 public:
  using Error::Error;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_KILLED_PROGRAM_ERROR_H_
