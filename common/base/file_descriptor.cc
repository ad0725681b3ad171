#include "ringside/common/base/file_descriptor.h"

#include <unistd.h>

#include <utility>

namespace ringside {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = other.Release();
  }
  return *this;
}

int FileDescriptor::Release() noexcept { return std::exchange(fd_, -1); }

void FileDescriptor::Close() noexcept {
  // An error of close has no use here: Linux has freed the descriptor then, too.
  if (fd_ >= 0) static_cast<void>(::close(Release()));
}

}  // namespace ringside
