#ifndef RINGSIDE_EXPERIMENTS_JOB_HAND_OVER_H_
#define RINGSIDE_EXPERIMENTS_JOB_HAND_OVER_H_

#include <sys/types.h>

#include <ctime>
#include <filesystem>
#include <optional>

#include "experiments/job/rank_environment.h"

namespace ringside {

/// Who called sudo.
struct InvokingUser {
  uid_t user = 0;
  gid_t group = 0;
};
/// Nobody where this process is not root, or SUDO_UID and SUDO_GID do not both say who.
std::optional<InvokingUser> FindInvokingUser(const Environment& environment);

/// Results that root writes for somebody who called sudo are that user's once this goes: a folder
/// and all in it, however the work on it ended.
///
/// Given away is what belongs to root, was made or written after construction, and lies in a folder
/// that is the user's already or was made after construction too; nothing else, so that what was
/// root's there before stays root's. Symbolic links are not followed, and files with a second name
/// and other file systems are left alone. What cannot be given away is told on stderr. Not
/// thread-safe.
class HandOver {
 public:
  /// `folder` may not be there yet. Call before a user namespace is entered.
  HandOver(const std::filesystem::path& folder, const Environment& environment);
  ~HandOver();
  HandOver(const HandOver&) = delete;
  HandOver& operator=(const HandOver&) = delete;

 private:
  const std::optional<InvokingUser> user_;
  std::filesystem::path folder_;
  timespec since_{};
  std::filesystem::path first_new_;  ///< The outermost folder that had to be made; empty: none.
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_HAND_OVER_H_
