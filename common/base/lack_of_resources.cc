#include "ringside/common/base/lack_of_resources.h"

#include <sys/resource.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "ringside/common/base/errors.h"

namespace ringside {

std::optional<std::uint64_t> MemoryLimitKib() {
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  if (!limited) return std::nullopt;
  return limit.rlim_cur / 1024;
}

std::string LackOfMemoryText() {
  const std::optional<std::uint64_t> limit = MemoryLimitKib();
  if (!limit) return "memory ran out";
  return "memory ran out: this process may use " + std::to_string(*limit) + " KiB (ulimit -v)";
}

std::string LackInCurrentException() {
  try {
    throw;
  } catch (const ResourceError& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return LackOfMemoryText();
  } catch (const std::system_error& error) {
    const bool no_thread = error.code() == std::errc::resource_unavailable_try_again;
    return no_thread ? ResourceError("a thread", EAGAIN).what() : "";
  } catch (...) {
    return "";
  }
}

}  // namespace ringside
