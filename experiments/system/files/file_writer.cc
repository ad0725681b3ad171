#include "ringside/experiments/system/files/file_writer.h"

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
  std::string& failure = files_[file].failure;
  if (!failure.empty()) return;
  if (bytes.size() > most_bytes_ - waiting_bytes_) {
    failure = files_[file].path + ": cannot write: the disk takes nothing more, and " +
              std::to_string(waiting_bytes_) + " bytes wait for it";
    return;
  }
  waiting_bytes_ += bytes.size();
  waiting_.push_back({file, std::move(bytes)});
  changed_.notify_all();
}

std::string FileWriter::Failure(FileId file) const {
  const std::lock_guard lock(mutex_);
  return files_[file].failure;
}

void FileWriter::Drain() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !writing_; });
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
    waiting_bytes_ -= piece.bytes.size();
    changed_.notify_all();
  }
}

std::string FileWriter::Write(const File& file, const std::string& bytes) {
  try {
    WriteDescriptor(file.descriptor.get(), std::as_bytes(std::span(bytes)), file.path);
    return {};
  } catch (const DataError& error) {
    return error.what();
  }
}

}  // namespace ringside
