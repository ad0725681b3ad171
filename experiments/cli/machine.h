#ifndef RINGSIDE_EXPERIMENTS_CLI_MACHINE_H_
#define RINGSIDE_EXPERIMENTS_CLI_MACHINE_H_

#include <cstdint>
#include <string>

namespace ringside {

/// Facts about this machine, for `doctor`. No function throws or leaves anything behind.

/// The bytes of memory, and of the file system at a path (0: there is none).
std::uint64_t MemoryBytes();
std::uint64_t FileSystemBytes(const std::string& path);
/// The directory of this executable.
std::string ExecutableDirectory();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_MACHINE_H_
