#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_FILES_TRUSTED_PATH_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_FILES_TRUSTED_PATH_H_

#include <string>

#include "ringside/common/base/file_descriptor.h"

/// Opens and removes files so that no other user can lead this process elsewhere. Root often writes
/// results into a folder of the user who called sudo, and a group may share a folder. Another user
/// could place a symbolic link there, or a pipe. So a symbolic link is followed only if it belongs
/// to root or to the user of this process, wherever it is in the path. Names are looked up one
/// directory at a time, so nothing can be exchanged in between.
namespace ringside {

/// A directory that is open, and a name in it.
struct TrustedPlace {
  FileDescriptor directory;
  std::string name;
};

/// Syncs a directory, which may have been opened with O_PATH. Returns false, with errno set, when
/// the names in it may be lost. Some file systems cannot sync a directory: there a name is as
/// durable as the file system makes it, and this returns true.
bool SyncDirectory(int directory);

/// Opens the directory of a file. Throws `DataError` when it cannot be reached.
TrustedPlace FindTrustedPlace(const std::string& path);

/// Makes the directory and its parents where they are missing. Throws `ConfigError` naming it.
void MakeDirectories(const std::string& path);

/// Opens a regular file for writing, and creates it if it is missing. `flags` is O_TRUNC or
/// O_APPEND for open(2). Throws `DataError` when it cannot, or when the file is something else, for
/// instance a pipe or a symbolic link, or has a second name (hard link).
FileDescriptor OpenForWriting(const std::string& path, int flags);

/// Removes a file or a symbolic link; nothing where there is none. Throws `DataError`.
void RemoveFile(const std::string& path);
/// Removes a directory with all that is in it, or a file; nothing where there is none. Removes
/// symbolic links instead of following them. Throws `DataError`.
void RemoveTree(const std::string& path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_FILES_TRUSTED_PATH_H_
