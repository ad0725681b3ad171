#ifndef RINGSIDE_EXPERIMENTS_LAB_NET_NAMESPACE_H_
#define RINGSIDE_EXPERIMENTS_LAB_NET_NAMESPACE_H_

#include <string>

#include "experiments/job/files.h"

namespace ringside {

/// A network namespace without a name: it lives as long as this object, or a process inside. The
/// kernel removes it with all its devices, however its owner ends; nothing is left to clean up.
class NetNamespace {
 public:
  /// Throws `MissingBackendError` where this process may not make one.
  static NetNamespace Make();

  int fd() const { return file_.get(); }
  /// What new TCP connections of this namespace use. Left as it is where the kernel lacks `name` or
  /// does not let this process choose.
  void ChooseCongestionControl(const std::string& name) const;
  /// What they use: "cubic".
  std::string congestion_control() const;
  /// For other processes of this user, as long as this one lives.
  std::string path() const;

 private:
  explicit NetNamespace(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
};

/// Where this process may not make namespaces itself, moves it into a user namespace in which it
/// may, if the kernel permits that: it stays there. Only before the process has other threads.
/// Returns why not, and is then where it was: a child tries it first. Empty: it may now.
std::string EnterUserNamespace();

/// The calling thread is in a namespace as long as this lives: sockets and processes that it makes
/// meanwhile belong there. -1: stays where it is. Ends the process where there is no way back.
class NamespaceScope {
 public:
  /// Throws `InternalError` when it cannot enter.
  explicit NamespaceScope(int fd);
  ~NamespaceScope();
  NamespaceScope(const NamespaceScope&) = delete;
  NamespaceScope& operator=(const NamespaceScope&) = delete;

 private:
  FileDescriptor before_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_NET_NAMESPACE_H_
