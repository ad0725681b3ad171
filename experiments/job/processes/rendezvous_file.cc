#include "ringside/experiments/job/processes/rendezvous_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/private_file.h"
#include "ringside/experiments/system/files/sha256.h"
#include "ringside/experiments/text/json_integer.h"

namespace ringside {
namespace {

constexpr std::size_t kMaxFileBytes = 4096;
constexpr std::chrono::milliseconds kPollInterval{20};

constexpr std::string_view kPrefix = "job-";
constexpr std::size_t kHashDigits = 16;
/// A process has the lock of the directory only for a moment.
constexpr std::chrono::milliseconds kLockTimeout{2'000};

std::string PathIn(const std::string& directory, const std::string& key) {
  const std::string hash = Sha256Hex(std::as_bytes(std::span(key)));
  return directory + "/" + std::string(kPrefix) + hash.substr(0, kHashDigits);
}

/// A process's start time, in clock ticks since the machine started. Together with the pid it
/// identifies a process uniquely. Empty when there is no such process.
std::string StartTime(pid_t pid) {
  std::string stat;
  try {
    stat = ReadFile("/proc/" + std::to_string(pid) + "/stat", kMaxFileBytes);
  } catch (const DataError&) {
    return {};
  }
  // Field 22; the name in field 2 may hold blanks, but what follows its last bracket does not.
  const std::size_t bracket = stat.rfind(')');
  if (bracket == std::string::npos) return {};
  std::istringstream fields(stat.substr(bracket + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  return field;
}

struct Published {
  RendezvousInfo rendezvous;
  pid_t pid = -1;
  std::string start;
  std::string process_namespace;
};

/// Returns nothing for a damaged file.
std::optional<Published> Read(const std::string& path) {
  const auto content = ReadPrivateFile(path, kMaxFileBytes);
  if (!content) return std::nullopt;
  const auto json = nlohmann::json::parse(*content, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    const auto pid = IntegerOf<pid_t>(json.value("pid", nlohmann::json()));
    if (!pid) return std::nullopt;
    return Published{{json.value("target", ""), json.value("token", "")},
                     *pid,
                     json.value("start", ""),
                     json.value("pid_namespace", "")};
  } catch (const nlohmann::json::exception&) {  // a value of another type
    return std::nullopt;
  }
}

/// Whether this process can see the one that has published it.
bool IsAlive(const Published& published) {
  return published.process_namespace == ProcessNamespace() && !published.start.empty() &&
         StartTime(published.pid) == published.start;
}

/// What a live process has published.
std::optional<Published> ReadLive(const std::string& path) {
  std::optional<Published> published = Read(path);
  if (published && !IsAlive(*published)) published.reset();
  return published;
}

/// The directory, locked until the descriptor is closed. Without a lock in time there is none; then
/// dead files stay a while longer.
FileDescriptor LockOf(const std::string& directory) {
  FileDescriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Deadline deadline = Deadline::After(kLockTimeout);
  while (fd.get() >= 0 && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (deadline.expired()) return {};
    std::this_thread::sleep_for(kPollInterval);
  }
  return fd;
}

bool IsDead(const std::string& path) {
  try {
    const std::optional<Published> published = Read(path);
    // Nobody here knows whether a process of another container lives.
    if (published && published->process_namespace != ProcessNamespace()) return false;
    return !published || !IsAlive(*published);
  } catch (const Error&) {
    return false;  // It is not one of ours.
  }
}

/// Removes the files of jobs whose rank 0 was killed: they hold tokens. The caller has the lock, so
/// no file that was dead comes to life meanwhile.
void RemoveDead(const std::string& directory) {
  std::error_code ignored;  // What cannot be removed stays.
  std::error_code end_of_list;
  for (std::filesystem::directory_iterator entry(directory, end_of_list), end;
       !end_of_list && entry != end; entry.increment(end_of_list)) {
    const std::string name = entry->path().filename();
    const bool ours = name.starts_with(kPrefix) && name.size() == kPrefix.size() + kHashDigits;
    if (ours && IsDead(entry->path())) std::filesystem::remove(entry->path(), ignored);
  }
}

}  // namespace

RendezvousFile::RendezvousFile(const Environment& environment, const std::string& key,
                               const RendezvousInfo& rendezvous) {
  const std::string directory = PrivateDirectory(environment);
  path_ = PathIn(directory, key);
  const FileDescriptor lock = LockOf(directory);
  if (lock.get() >= 0) RemoveDead(directory);
  if (const auto other = ReadLive(path_)) {
    throw ConfigError("job '" + key + "' is running already: its rank 0 is process " +
                      std::to_string(other->pid) + "; two jobs need two names (MASTER_PORT)");
  }
  const nlohmann::json json{{"pid", ::getpid()},
                            {"pid_namespace", ProcessNamespace()},
                            {"start", StartTime(::getpid())},
                            {"target", rendezvous.target},
                            {"token", rendezvous.token}};
  WriteFileAtomically(path_, json.dump() + "\n", 0600);
}

RendezvousFile::~RendezvousFile() { ::unlink(path_.c_str()); }

RendezvousInfo RendezvousFile::Wait(const Environment& environment, const std::string& key,
                                    const Deadline& deadline) {
  const std::string path = PathIn(PrivateDirectory(environment), key);
  while (true) {
    if (const auto published = ReadLive(path)) return published->rendezvous;
    if (deadline.expired()) {
      throw CommError(
          "rank 0", "looking for the coordinator of job '" + key + "'",
          "it has not published " + path + "; ranks on several machines need RINGSIDE_TOKEN_FILE");
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

std::string ReadTokenFile(const std::string& path) {
  auto token = ReadPrivateFile(path, kMaxFileBytes);
  if (!token) throw ConfigError("the file of the token, " + path + ", is not there");
  while (!token->empty() && (token->back() == '\n' || token->back() == '\r')) token->pop_back();
  constexpr std::size_t kMinTokenBytes = 32;
  if (token->size() < kMinTokenBytes) {
    throw ConfigError(path +
                      ": expected a token of at least 32 characters; 'openssl rand -hex 32' " +
                      "makes one");
  }
  return *token;
}

}  // namespace ringside
