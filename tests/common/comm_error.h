#ifndef RINGSIDE_TESTS_COMMON_COMM_ERROR_H_
#define RINGSIDE_TESTS_COMMON_COMM_ERROR_H_

#include <gtest/gtest.h>

#include <exception>
#include <functional>

#include "ringside/common/base/errors.h"

namespace ringside {

/// The `CommError` that `body` throws. The test fails when it throws none; other exceptions pass.
inline CommError CommErrorOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const CommError& error) {
    return error;
  }
  ADD_FAILURE() << "no CommError was thrown";
  return {"nobody", "nothing", "none"};
}

/// The same for what a rank has thrown; null: nothing.
inline CommError CommErrorOf(const std::exception_ptr& thrown) {
  return CommErrorOf([&] {
    if (thrown != nullptr) std::rethrow_exception(thrown);
  });
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_COMM_ERROR_H_
