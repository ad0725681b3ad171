#ifndef RINGSIDE_EXPERIMENTS_CLI_MACHINE_H_
#define RINGSIDE_EXPERIMENTS_CLI_MACHINE_H_

#include <cstdint>
#include <string>

namespace ringside {

/// Questions to this machine, for `doctor`. None throws; none leaves anything behind.

/// Cores that this process may run on.
int UsableCores();
/// Bytes of memory, and those of the file system of a path (0: there is none).
std::uint64_t MemoryBytes();
std::uint64_t FileSystemBytes(const std::string& path);
/// The directory of this executable.
std::string ExecutableDirectory();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_MACHINE_H_
