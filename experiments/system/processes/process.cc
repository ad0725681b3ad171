#include "ringside/experiments/system/processes/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/network/net_namespace.h"

namespace ringside {
namespace {

constexpr std::size_t kMaxInputBytes = 64 << 10;  // what a pipe holds without a reader
// Our descriptors lie above the ones a child gets, so moving one cannot overwrite another.
constexpr int kFirstOwnFd = 10;

constexpr std::chrono::seconds kEndAfterKill{2};

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

FileDescriptor MoveUp(const FileDescriptor& fd) {
  FileDescriptor moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstOwnFd));
  // EINVAL: the limit of descriptors lies below the first of these numbers.
  if (moved.get() < 0) throw ResourceError("a pipe to a child", errno == EINVAL ? EMFILE : errno);
  return moved;
}

Pipe MakePipe() {
  std::array<int, 2> fds;
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) throw ResourceError("a pipe to a child", errno);
  const FileDescriptor read(fds[0]);
  const FileDescriptor write(fds[1]);
  return {MoveUp(read), MoveUp(write)};
}

template <std::size_t N>
bool IsOneOf(int error, const std::array<int, N>& errors) {
  return std::ranges::find(errors, error) != errors.end();
}

[[noreturn]] void ThrowNoStart(const std::string& program, int error) {
  // It is not there, or is no program that we may start.
  constexpr std::array kMissing{ENOENT, EACCES, ENOEXEC, ENOTDIR, ELOOP};
  constexpr std::array kNoRoom{EAGAIN, ENOMEM, EMFILE, ENFILE, E2BIG};
  if (IsOneOf(error, kNoRoom)) throw ResourceError("the process " + program, error);
  const std::string text = "cannot start " + program + ": " + std::strerror(error);
  if (IsOneOf(error, kMissing)) throw MissingBackendError(text);
  throw Error(text);
}

/// A pipe from which `input` can be read, and then its end.
Pipe MakeInputPipe(const std::string& input) {
  if (input.size() > kMaxInputBytes) {
    throw ConfigError(
        "the spec is too long to be handed to a child: " + std::to_string(input.size()) + " bytes");
  }
  Pipe pipe = MakePipe();
  // The input fits into the empty pipe, so this call does not wait and writes all of it.
  if (::write(pipe.write.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size())) {
    throw InternalError(std::string("writing to a pipe: ") + std::strerror(errno));
  }
  pipe.write.Close();
  return pipe;
}

/// Whether one of `replacements` ("NAME=value") has the name of `variable`.
bool IsReplaced(std::string_view variable, const std::vector<std::string>& replacements) {
  const std::string_view name = variable.substr(0, variable.find('=') + 1);
  return std::ranges::any_of(replacements,
                             [&](const std::string& other) { return other.starts_with(name); });
}

/// The actions that posix_spawn performs in the child.
class SpawnPlan {
 public:
  /// `input_fd`: the child's standard input; absent: /dev/null.
  SpawnPlan(std::optional<int> input_fd, int secret_fd, int output_fd) {
    ::posix_spawn_file_actions_init(&actions_);
    if (input_fd) {
      ::posix_spawn_file_actions_adddup2(&actions_, *input_fd, STDIN_FILENO);
    } else {
      ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    ::posix_spawn_file_actions_adddup2(&actions_, output_fd, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, output_fd, STDERR_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, secret_fd, kSecretInputFd);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, kSecretInputFd + 1);
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::sigaddset(&signals, signal);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  pid_t Spawn(const std::vector<std::string>& argv,
              const std::vector<std::string>& more_variables) const {
    std::vector<char*> arguments;
    AddTo(arguments, argv);
    std::vector<char*> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
      if (!IsReplaced(*variable, more_variables)) variables.push_back(*variable);
    }
    AddTo(variables, more_variables);
    pid_t pid = -1;
    const int error = ::posix_spawn(&pid, argv.front().c_str(), &actions_, &attributes_,
                                    arguments.data(), variables.data());
    if (error != 0) ThrowNoStart(argv.front(), error);
    return pid;
  }

 private:
  /// The texts, and the null pointer that ends them.
  static void AddTo(std::vector<char*>& pointers, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

std::string ProcessEnd::Text() const {
  if (signal == 0 && code == kUnknown) return "ended, and its exit code is lost";
  if (signal == 0) return "exited with code " + std::to_string(code);
  return "was killed by signal " + std::to_string(signal) +
         (out_of_memory ? ", perhaps because memory ran out" : "");
}

Process::Process(const Options& options) {
  Pipe output = MakePipe();
  if (::fcntl(output.read.get(), F_SETFL, O_NONBLOCK) != 0) {
    throw InternalError(std::string("a pipe cannot be made non-blocking: ") + std::strerror(errno));
  }
  const Pipe secret = MakeInputPipe(options.secret_input);
  std::optional<Pipe> input;
  if (!options.standard_input.empty()) input = MakeInputPipe(options.standard_input);
  const SpawnPlan plan(input ? std::optional(input->read.get()) : std::nullopt, secret.read.get(),
                       output.write.get());
  const NamespaceScope inside(options.network_namespace);
  pid_ = plan.Spawn(options.argv, options.environment);
  output_ = std::move(output.read);
}

Process::Process(Process&& other) noexcept
    : oom_kills_(other.oom_kills_),
      pid_(std::exchange(other.pid_, -1)),
      output_(std::move(other.output_)),
      end_(other.end_) {}

Process::~Process() {
  if (pid_ < 0 || end_) return;
  Signal(SIGKILL);
  constexpr std::chrono::milliseconds kTick{1};
  const Deadline deadline = Deadline::After(kEndAfterKill);
  while (!Poll() && !deadline.expired()) std::this_thread::sleep_for(kTick);
}

const std::optional<ProcessEnd>& Process::Poll() {
  if (!end_) Reap();
  if (!end_) oom_kills_.Look();
  return end_;
}

void Process::Reap() noexcept {
  siginfo_t info{};
  int rc = 0;
  do {
    rc = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG);
  } while (rc != 0 && errno == EINTR);
  if (rc != 0 && errno == ECHILD) {  // somebody else has reaped it
    end_ = ProcessEnd{.code = ProcessEnd::kUnknown};
    return;
  }
  if (rc != 0 || info.si_pid == 0) return;
  // The child is not reaped yet, so no other group can have its number.
  Signal(SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  ProcessEnd end;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
    end.out_of_memory = end.signal == SIGKILL && oom_kills_.Any();
  } else {
    end.code = WEXITSTATUS(status);
  }
  end_ = end;
}

void Process::Signal(int signal) const noexcept {
  if (pid_ > 0 && !end_) ::kill(-pid_, signal);
}

void DieWithParent(pid_t parent) {
  // It fails for a number that is no signal only.
  static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
  if (::getppid() != parent) ::raise(SIGKILL);
}

std::string ThisExecutable() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::string DirectoryOfThisExecutable() {
  return std::filesystem::path(ThisExecutable()).parent_path().string();
}

}  // namespace ringside
