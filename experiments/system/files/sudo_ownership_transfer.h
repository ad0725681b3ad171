#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_FILES_SUDO_OWNERSHIP_TRANSFER_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_FILES_SUDO_OWNERSHIP_TRANSFER_H_

#include <sys/types.h>

#include <ctime>
#include <filesystem>
#include <optional>

#include "ringside/experiments/system/environment/rank_environment.h"

namespace ringside {

/// The user who called sudo.
struct InvokingUser {
  uid_t user = 0;
  gid_t group = 0;
};
/// Returns nothing when this process is not root, or SUDO_UID and SUDO_GID do not both name a user.
std::optional<InvokingUser> FindInvokingUser(const Environment& environment);

/// Gives a folder of results that root wrote to the user who called sudo. The destructor does this,
/// whether the work in the folder succeeded or failed.
///
/// A file gets its new owner when it belongs to root, was made or written after construction, and
/// is in a folder that belongs to the user or was made after construction. Older files of root do
/// not change. Symbolic links are not followed. Files with several hard links and other file
/// systems are left alone. Failures are reported on stderr. Not thread-safe.
class SudoOwnershipTransfer {
 public:
  /// `folder` need not exist yet. Construct this before entering a user namespace.
  SudoOwnershipTransfer(const std::filesystem::path& folder, const Environment& environment);
  ~SudoOwnershipTransfer();
  SudoOwnershipTransfer(const SudoOwnershipTransfer&) = delete;
  SudoOwnershipTransfer& operator=(const SudoOwnershipTransfer&) = delete;

 private:
  const std::optional<InvokingUser> user_;
  std::filesystem::path folder_;
  timespec since_{};
  std::filesystem::path first_new_;  ///< The outermost folder that had to be made; empty: none.
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_FILES_SUDO_OWNERSHIP_TRANSFER_H_
