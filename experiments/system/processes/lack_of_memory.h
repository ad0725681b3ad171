#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_LACK_OF_MEMORY_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_LACK_OF_MEMORY_H_

namespace ringside {

/// From now on a `std::bad_alloc` that nobody catches, for instance in a thread of gRPC, writes
/// `LackOfMemoryText` to stderr before it aborts the process.
void SayWhenMemoryRunsOut();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_LACK_OF_MEMORY_H_
