#include "ringside/experiments/system/processes/lack_of_memory.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>

#include "ringside/common/base/lack_of_resources.h"
#include "ringside/experiments/system/output/console.h"

namespace ringside {
namespace {

constexpr std::chrono::seconds kPatience{1};

struct LastWords {
  std::string text;
  std::terminate_handler others = nullptr;  ///< For what is no lack of memory.
};

// Never destroyed: a thread may run out of memory while the process ends.
LastWords& TheLastWords() {
  static auto* const words = new LastWords();
  return *words;
}

bool IsLackOfMemory(const std::exception_ptr& thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
  return false;
}

[[noreturn]] void End() {
  const LastWords& words = TheLastWords();
  if (IsLackOfMemory(std::current_exception())) {
    // Nothing else can be done when stderr takes no bytes.
    static_cast<void>(WriteWithin(STDERR_FILENO, words.text, kPatience));
  } else {
    words.others();
  }
  std::abort();
}

}  // namespace

void SayWhenMemoryRunsOut() {
  // Made now, because then there may be no memory for it.
  TheLastWords() = {.text = "ringside: " + LackOfMemoryText() + "\n",
                    .others = std::set_terminate(End)};
}

}  // namespace ringside
