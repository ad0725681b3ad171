#ifndef RINGSIDE_COMMON_BASE_FILE_DESCRIPTOR_H_
#define RINGSIDE_COMMON_BASE_FILE_DESCRIPTOR_H_

namespace ringside {

/// Owns a file descriptor. -1: none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  int Release() noexcept;
  void Close() noexcept;

 private:
  int fd_ = -1;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_FILE_DESCRIPTOR_H_
