#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_NETWORK_NET_NAMESPACE_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_NETWORK_NET_NAMESPACE_H_

#include <string>

#include "ringside/common/base/file_descriptor.h"

namespace ringside {

/// A network namespace without a name. It lives as long as this object or a process inside. The
/// kernel removes it with all its devices, however its owner ends, so nothing needs cleaning up.
class NetNamespace {
 public:
  /// Throws `MissingBackendError` when this process may not make one.
  static NetNamespace Make();

  int fd() const { return file_.get(); }
  /// Writes a setting of this namespace: a file below /proc/sys/net, such as
  /// "ipv4/tcp_slow_start_after_idle". Throws `MissingBackendError` naming the file when the kernel
  /// refuses the value.
  void SetKernelSetting(const std::string& name, const std::string& value) const;
  /// Reads such a setting, without the line's end. Throws `MissingBackendError` naming the file.
  std::string KernelSetting(const std::string& name) const;
  /// A path for other processes of this user, valid while this process lives.
  std::string path() const;

 private:
  explicit NetNamespace(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
};

/// Makes sure that this process may make network namespaces. If it may not, moves it permanently
/// into a user namespace where it may. Call this before the process has other threads. Returns
/// empty on success. Otherwise it returns the reason and the process has not moved, because a child
/// tries first.
std::string EnterUserNamespace();

/// Keeps the calling thread in a namespace while this object lives. Sockets and processes that the
/// thread makes belong there. With -1 the thread does not move. Ends the process when the thread
/// cannot go back.
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

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_NETWORK_NET_NAMESPACE_H_
