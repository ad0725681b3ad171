#include "experiments/job/rendezvous_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <thread>

#include "common/errors.h"
#include "experiments/job/files.h"
#include "experiments/sha256.h"

namespace ringside {
namespace {

constexpr std::size_t kMaxFileBytes = 4096;
constexpr std::chrono::milliseconds kPollInterval{20};

std::string Directory(const Environment& environment) {
  const auto runtime = environment.find("XDG_RUNTIME_DIR");
  if (runtime != environment.end() && !runtime->second.empty()) {
    return runtime->second + "/ringside";
  }
  return "/tmp/ringside-" + std::to_string(::getuid());
}

/// Creates it, or checks that nobody else can write or read there.
void RequirePrivateDirectory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    throw ConfigError(path + ": cannot create the directory: " + std::strerror(errno));
  }
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != ::getuid() || (status.st_mode & 077) != 0) {
    throw ConfigError(path + ": expected a directory of this user's, with mode 0700");
  }
}

std::string PathOf(const Environment& environment, const std::string& key) {
  const std::string hash = Sha256Hex(std::as_bytes(std::span(key)));
  return Directory(environment) + "/job-" + hash.substr(0, 16);
}

/// When a process began, in clock ticks since the machine did: with the pid it names a process for
/// good. Empty when there is none.
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

/// The content of a file that belongs to the user and that nobody else can read; nothing when there
/// is no such file.
std::optional<std::string> ReadPrivateFile(const std::string& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || status.st_uid != ::getuid() || (status.st_mode & 077) != 0) {
    throw ConfigError(path + ": expected a file of this user's that nobody else can read (0600)");
  }
  return ReadDescriptor(fd.get(), kMaxFileBytes, path);
}

struct Published {
  Meeting meeting;
  pid_t pid = -1;
};

/// What a live process has published; a damaged file counts as none.
std::optional<Published> ReadLive(const std::string& path) {
  const auto content = ReadPrivateFile(path);
  if (!content) return std::nullopt;
  const auto json = nlohmann::json::parse(*content, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const Published published{{json.value("target", ""), json.value("token", "")},
                            json.value("pid", -1)};
  const std::string start = json.value("start", "");
  if (start.empty() || StartTime(published.pid) != start) return std::nullopt;
  return published;
}

}  // namespace

RendezvousFile::RendezvousFile(const Environment& environment, const std::string& key,
                               const Meeting& meeting)
    : path_(PathOf(environment, key)) {
  RequirePrivateDirectory(Directory(environment));
  if (const auto other = ReadLive(path_)) {
    throw ConfigError("job '" + key + "' is running already: its rank 0 is process " +
                      std::to_string(other->pid) + "; two jobs need two names (MASTER_PORT)");
  }
  const nlohmann::json json{{"pid", ::getpid()},
                            {"start", StartTime(::getpid())},
                            {"target", meeting.target},
                            {"token", meeting.token}};
  WriteFileAtomically(path_, json.dump() + "\n", 0600);
}

RendezvousFile::~RendezvousFile() { ::unlink(path_.c_str()); }

Meeting RendezvousFile::Wait(const Environment& environment, const std::string& key,
                             const Deadline& deadline) {
  const std::string path = PathOf(environment, key);
  while (true) {
    if (const auto published = ReadLive(path)) return published->meeting;
    if (deadline.expired()) {
      throw CommError(
          "rank 0", "looking for the coordinator of job '" + key + "'",
          "it has not published " + path + "; ranks on several machines need RINGSIDE_TOKEN_FILE");
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

std::string ReadTokenFile(const std::string& path) {
  auto token = ReadPrivateFile(path);
  if (!token) throw ConfigError("RINGSIDE_TOKEN_FILE: cannot read " + path);
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
