#ifndef RINGSIDE_TESTS_FUZZ_FUZZ_TARGET_H_
#define RINGSIDE_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"

/// Reads one input; libFuzzer or standalone.cc calls it. Returns 0 if the input was read, or
/// refused as the documentation says. Anything else is a finding: another exception, a report of a
/// sanitizer, too much time or memory.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace ringside {

/// Every target defines it: inputs to start from, beside those in its folder of corpus/. Ringside's
/// own writers make them, so they are right in every version.
std::vector<std::string> FuzzSeeds();

/// Calls `body`. Drops the errors by which Ringside says that an input is wrong. `InternalError` is
/// not one of them: it says that Ringside is wrong.
template <typename Body>
void DropRefusals(const Body& body) {
  try {
    body();
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
  }
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_FUZZ_FUZZ_TARGET_H_
