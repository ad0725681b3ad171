#include "ringside/experiments/system/files/file_writer.h"

#include <exception>
#include <span>
#include <system_error>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"

namespace ringside {

FileWriter::~FileWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

FileWriter::FileId FileWriter::Add(FileDescriptor file, const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) StartThread();
  files_.push_back({.path = path, .descriptor = std::move(file), .failure = {}});
  return files_.size() - 1;
}

void FileWriter::Append(FileId file, std::string bytes) {
  if (bytes.empty()) return;
  const std::lock_guard lock(mutex_);
  File& to = files_[file];
  if (!to.failure.empty()) return;
  if (bytes.size() > most_bytes_ - to.waiting_bytes) {
    to.failure = to.path + ": cannot write: the disk is too slow; " +
                 std::to_string(to.waiting_bytes) + " bytes wait for it";
    return;
  }
  to.waiting_bytes += bytes.size();
  waiting_.push_back({file, std::move(bytes)});
  changed_.notify_all();
}

std::string FileWriter::Failure(FileId file) const {
  const std::lock_guard lock(mutex_);
  return files_[file].failure;
}

std::size_t FileWriter::Waiting(FileId file) const {
  const std::lock_guard lock(mutex_);
  return files_[file].waiting_bytes;
}

void FileWriter::Drain() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return IsIdle(); });
}

bool FileWriter::DrainWithin(std::chrono::milliseconds wait) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, wait, [this] { return IsIdle(); });
}

void FileWriter::StartThread() {
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error& error) {
    throw ResourceError("a thread", error.code().value());
  }
}

void FileWriter::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !waiting_.empty() || stopping_; });
    if (waiting_.empty()) return;
    const Piece piece = std::move(waiting_.front());
    waiting_.pop_front();
    File& file = files_[piece.file];
    if (!file.broken) {
      writing_ = true;
      lock.unlock();
      std::string failure = Write(file, piece.bytes);
      lock.lock();
      writing_ = false;
      file.broken = !failure.empty();
      if (file.broken) file.failure = std::move(failure);
    }
    file.waiting_bytes -= piece.bytes.size();
    changed_.notify_all();
  }
}

std::string FileWriter::Write(const File& file, const std::string& bytes) {
  try {
    WriteDescriptor(file.descriptor.get(), std::as_bytes(std::span(bytes)), file.path);
    return {};
  } catch (const std::exception& error) {  // it may not leave the thread
    return error.what();
  }
}

}  // namespace ringside
