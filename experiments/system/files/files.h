#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_FILES_FILES_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_FILES_FILES_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ringside {

/// Whether the mode of a new file lacks the bits of this process's umask.
enum class Umask { kApplies, kIgnored };

/// Writes the parts in order to a temporary file beside `path`, syncs it, renames it and syncs the
/// directory. Readers see the old file or the whole new one. `mode` is as for open(2). Throws
/// `DataError` naming the file. The old file is then unchanged, unless only the directory could not
/// be synced: a crash may then bring the old file back.
void WriteFileAtomically(const std::string& path, std::span<const std::span<const std::byte>> parts,
                         int mode = 0644, Umask umask = Umask::kApplies);
void WriteFileAtomically(const std::string& path, std::string_view content, int mode = 0644,
                         Umask umask = Umask::kApplies);

/// Writes all of `data`. Throws `DataError` naming `path`.
void WriteDescriptor(int fd, std::span<const std::byte> data, const std::string& path);

/// Returns the content of a regular file. Throws `DataError` when it cannot be read, is something
/// else, for instance a FIFO, or is longer than `max_bytes`.
std::string ReadFile(const std::string& path, std::size_t max_bytes);
/// The same of a file that the user names, which may also be a FIFO or a device: /dev/stdin, or
/// what a shell makes of `<(...)`. Waits until it ends.
std::string ReadNamedFile(const std::string& path, std::size_t max_bytes);
/// Reads until the other end closes.
std::string ReadDescriptor(int fd, std::size_t max_bytes, const std::string& name);

/// Syncs every file and directory in and below `directory`. Throws `DataError` naming the one that
/// failed.
void SyncFiles(const std::string& directory);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_FILES_FILES_H_
