#ifndef RINGSIDE_COMMON_BASE_LACK_OF_RESOURCES_H_
#define RINGSIDE_COMMON_BASE_LACK_OF_RESOURCES_H_

#include <cstdint>
#include <optional>
#include <string>

namespace ringside {

/// The most address space that this process may have, in KiB (`ulimit -v`). None: no limit.
std::optional<std::uint64_t> MemoryLimitKib();

/// What to tell users of a `std::bad_alloc`. It names the limit of this process (`ulimit -v`), if
/// there is one.
std::string LackOfMemoryText();

/// What this process lacks, if the current exception says so: a `ResourceError`, a
/// `std::bad_alloc`, or the `std::system_error` of a thread that cannot start. Empty for any other
/// exception. Call in a catch block.
std::string LackInCurrentException();

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_LACK_OF_RESOURCES_H_
