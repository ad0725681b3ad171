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

void SetNonBlocking(const FileDescriptor& end) {
  if (::fcntl(end.get(), F_SETFL, O_NONBLOCK) == 0) return;
  throw InternalError(std::string("a pipe cannot be made non-blocking: ") + std::strerror(errno));
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
/// Throws `ResourceError` where a pipe holds less, for instance because the user has very many.
Pipe MakeInputPipe(const std::string& input) {
  if (input.size() > kMaxInputBytes) {
    throw ConfigError(
        "the spec is too long to be handed to a child: " + std::to_string(input.size()) + " bytes");
  }
  Pipe pipe = MakePipe();
  SetNonBlocking(pipe.write);
  const ssize_t written = ::write(pipe.write.get(), input.data(), input.size());
  if (written != static_cast<ssize_t>(input.size())) {
    throw ResourceError("room in a pipe to a child", written < 0 ? errno : EAGAIN);
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

/// Throws for the result of a function of the posix_spawn family that is none.
void Require(int error) {
  if (error != 0) throw ResourceError("a plan of a process", error);
}

/// What posix_spawn does to descriptors in the child.
struct FileActions {
  FileActions() { Require(::posix_spawn_file_actions_init(&value)); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&value); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void Duplicate(int from, int to) {
    Require(::posix_spawn_file_actions_adddup2(&value, from, to));
  }

  posix_spawn_file_actions_t value{};
};

/// The child's process group and signals.
struct Attributes {
  Attributes() { Require(::posix_spawnattr_init(&value)); }
  ~Attributes() { ::posix_spawnattr_destroy(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  posix_spawnattr_t value{};
};

/// How posix_spawn starts a child.
class SpawnPlan {
 public:
  /// `input_fd`: the child's standard input; absent: /dev/null.
  SpawnPlan(std::optional<int> input_fd, int secret_fd, int output_fd) {
    if (input_fd) {
      actions_.Duplicate(*input_fd, STDIN_FILENO);
    } else {
      Require(::posix_spawn_file_actions_addopen(&actions_.value, STDIN_FILENO, "/dev/null",
                                                 O_RDONLY, 0));
    }
    actions_.Duplicate(output_fd, STDOUT_FILENO);
    actions_.Duplicate(output_fd, STDERR_FILENO);
    actions_.Duplicate(secret_fd, kSecretInputFd);
    Require(::posix_spawn_file_actions_addclosefrom_np(&actions_.value, kSecretInputFd + 1));
    sigset_t signals;
    // These fail for numbers that are no signals only.
    static_cast<void>(::sigemptyset(&signals));
    Require(::posix_spawnattr_setsigmask(&attributes_.value, &signals));
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
      static_cast<void>(::sigaddset(&signals, signal));
    }
    Require(::posix_spawnattr_setsigdefault(&attributes_.value, &signals));
    Require(::posix_spawnattr_setpgroup(&attributes_.value, 0));
    Require(::posix_spawnattr_setflags(&attributes_.value, POSIX_SPAWN_SETPGROUP |
                                                               POSIX_SPAWN_SETSIGMASK |
                                                               POSIX_SPAWN_SETSIGDEF));
  }

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
    const int error = ::posix_spawn(&pid, argv.front().c_str(), &actions_.value, &attributes_.value,
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

  FileActions actions_;
  Attributes attributes_;
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
  SetNonBlocking(output.read);
  const Pipe secret = MakeInputPipe(options.secret_input);
  std::optional<Pipe> input;
  if (!options.standard_input.empty()) input = MakeInputPipe(options.standard_input);
  std::optional<int> input_fd;
  if (options.input_fd >= 0) input_fd = options.input_fd;
  if (input) input_fd = input->read.get();
  const SpawnPlan plan(input_fd, secret.read.get(), output.write.get());
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
