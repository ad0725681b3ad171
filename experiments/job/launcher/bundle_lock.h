#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_BUNDLE_LOCK_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_BUNDLE_LOCK_H_

#include <string>

#include "ringside/common/base/file_descriptor.h"

namespace ringside {

/// Locks a bundle's directory against another launcher, until the descriptor is closed. The kernel
/// also releases the lock when the process dies. Locks nothing on a file system that cannot lock a
/// directory, such as NFS. Throws `Error` when another process has the lock, `DataError` when the
/// directory cannot be opened.
FileDescriptor LockBundle(const std::string& directory);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_BUNDLE_LOCK_H_
