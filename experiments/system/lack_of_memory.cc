#include "ringside/experiments/system/lack_of_memory.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>

namespace ringside {
namespace {

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
    static_cast<void>(!::write(STDERR_FILENO, words.text.data(), words.text.size()));
  } else {
    words.others();
  }
  std::abort();
}

}  // namespace

std::string LackOfMemoryText() {
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? fmt::format("memory ran out: this process may use {} KiB (ulimit -v)",
                               limit.rlim_cur / 1024)
                 : "memory ran out";
}

void SayWhenMemoryRunsOut() {
  // Made now, because then there may be no memory for it.
  TheLastWords() = {.text = "ringside: " + LackOfMemoryText() + "\n",
                    .others = std::set_terminate(End)};
}

}  // namespace ringside
