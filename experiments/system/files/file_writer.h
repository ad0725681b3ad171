#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_FILES_FILE_WRITER_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_FILES_FILE_WRITER_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "ringside/common/base/file_descriptor.h"

namespace ringside {

/// Writes files on a thread of its own. So nobody who appends waits for a disk that does not
/// answer. Thread-safe.
class FileWriter {
 public:
  using FileId = std::size_t;

  /// `most_bytes` of each file may wait for the disk.
  explicit FileWriter(std::size_t most_bytes = std::size_t{64} << 20) : most_bytes_(most_bytes) {}
  /// Waits for the disk.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  /// `file` is open for writing; errors name `path`. The first file starts the thread. Throws
  /// `ResourceError` when there is none.
  FileId Add(FileDescriptor file, const std::string& path);
  /// Writes `bytes` behind all that was appended before. Does nothing for a file that has failed.
  void Append(FileId file, std::string bytes);
  /// The bytes of the file that wait for the disk.
  std::size_t Waiting(FileId file) const;
  /// Why the file lacks something that was appended, with its path. Empty: as far as is known, it
  /// lacks nothing.
  std::string Failure(FileId file) const;
  /// Waits until the disk has taken or refused everything.
  void Drain() const;
  /// The same for at most `wait`. Returns whether the disk has.
  bool DrainWithin(std::chrono::milliseconds wait) const;

 private:
  struct File {
    std::string path;
    FileDescriptor descriptor;
    std::string failure;
    std::size_t waiting_bytes = 0;  ///< With the piece that is being written.
    bool broken = false;  ///< A piece could not be written. What followed it would follow a gap.
  };
  struct Piece {
    FileId file = 0;
    std::string bytes;
  };

  void StartThread();
  void Run();
  /// Without the lock. Returns why it cannot; empty if it can.
  static std::string Write(const File& file, const std::string& bytes);
  /// With the lock.
  bool IsIdle() const { return waiting_.empty() && !writing_; }

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  // Guarded by mutex_. The path and the descriptor of a file never change, and files never move.
  std::deque<File> files_;
  std::deque<Piece> waiting_;
  bool writing_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_FILES_FILE_WRITER_H_
