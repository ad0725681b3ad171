#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_LACK_OF_MEMORY_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_LACK_OF_MEMORY_H_

#include <string>

namespace ringside {

/// What to tell users of a `std::bad_alloc`. It names the limit of this process (`ulimit -v`), if
/// there is one.
std::string LackOfMemoryText();

/// From now on a `std::bad_alloc` that nobody catches, for instance in a thread of gRPC, writes
/// that text to stderr before it aborts the process.
void SayWhenMemoryRunsOut();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_LACK_OF_MEMORY_H_
