#include "ringside/experiments/program/program_worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/base/finite.h"
#include "ringside/common/measure/recorder.h"
#include "ringside/experiments/program/program_model.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/trusted_path.h"
#include "ringside/experiments/system/processes/process.h"
#include "ringside/experiments/worker/run_factories.h"
#include "ringside/experiments/worker/worker.h"

namespace ringside {
namespace {

/// The key of `kServerUpdate` (paramserver/server/consistency_table.h).
constexpr const char* kServerUpdateKey = "server-update";

void RequireLauncher() {
  const char* fd = std::getenv(kJobFdVariable);
  if (fd == nullptr) {
    throw ConfigError(
        "no launcher of Ringside started this program: run 'ringside train --workers 2 -- "
        "PROGRAM'");
  }
  if (fd != std::to_string(kSecretInputFd)) {
    throw ConfigError(fmt::format("{} is '{}', which no launcher has set", kJobFdVariable, fd));
  }
}

/// A descriptor from which `content` can be read.
FileDescriptor MemoryFile(const std::string& content) {
  FileDescriptor file(::memfd_create("ringside-message", MFD_CLOEXEC));
  if (file.get() < 0 || ::pwrite(file.get(), content.data(), content.size(), 0) !=
                            static_cast<ssize_t>(content.size())) {
    throw InternalError(std::string("keeping the launcher's message: ") + std::strerror(errno));
  }
  return file;
}

/// Only one process can read the launcher's message. Others that were forked before have the same
/// descriptor. This process reads the message here, where it can tell why there is none, and leaves
/// it for the training thread.
void TakeMessage() {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 10;
  const std::string message = ReadDescriptor(kSecretInputFd, kMaxBytes, "the launcher's message");
  if (message.empty()) {
    throw ConfigError(
        "another process of this worker has called init, so this one cannot: the program has "
        "forked before init; call init only in the process that trains");
  }
  const FileDescriptor file = MemoryFile(message);
  if (::dup3(file.get(), kSecretInputFd, O_CLOEXEC) < 0) {
    throw InternalError(std::string("keeping the launcher's message: ") + std::strerror(errno));
  }
}

template <typename T>
void Leak(std::unique_ptr<T>& owner) {
  [[maybe_unused]] const T* never_destroyed = owner.release();
}

Extensions ModelOfThisProgram(StepHandover& handover) {
  ModelEntry entry;
  entry.name = std::string(kProgramModel);
  entry.summary = "this program";
  entry.traits = {.reads_samples = false, .is_program = true};
  entry.make = [&handover](const ModelOptions&) -> std::unique_ptr<Model> {
    return std::make_unique<ProgramModel>(handover);
  };
  entry.tensors = [](const ModelOptions&) { return std::vector<TensorSpec>(); };
  Extensions extensions;
  extensions.models.push_back(std::move(entry));
  return extensions;
}

}  // namespace

/// The strategy, as the program's thread may use it.
class ProgramWorker::LentStrategy : public Strategy {
 public:
  explicit LentStrategy(StepHandover& handover) : handover_(handover) {}

  void Submit(const Bucket& bucket) override { handover_.Submit(bucket.index); }
  void Await(const Bucket& bucket) override { handover_.Await(bucket.index); }
  void Start(FlatSpace&, const BucketPlan&, const StartPoint&) override { Refuse(); }
  void ReadOptimizerState(std::span<float>) override { Refuse(); }
  void Stop() override { Refuse(); }

 private:
  [[noreturn]] static void Refuse() {
    throw InternalError("only the training thread starts and stops a strategy");
  }

  StepHandover& handover_;
};

ProgramWorker::ProgramWorker() : pid_(::getpid()) {
  RequireLauncher();
  TakeMessage();
  handover_ = std::make_unique<StepHandover>();
  catalog_ = std::make_unique<Catalog>(ModelOfThisProgram(*handover_));
  // Processes that this program starts are no workers.
  ::unsetenv(kJobFdVariable);
  thread_ = std::thread([this] {
    int code = 1;
    try {
      code = RunProgramWorker(
          {"--rank", "-", "--job-fd", std::to_string(kSecretInputFd)}, *catalog_,
          [this](MemberProcess& process) {
            handover_->SetJoined({process.setup(), &process.client(), &process.buffer()});
          });
    } catch (const std::exception& error) {  // before it joined
      fmt::print(stderr, "{}\n", error.what());
    }
    if (code != 0) {
      std::fflush(stderr);
      // The program's thread may wait for this one.
      ::_exit(code);
    }
    handover_->SetFinished();
  });
  job_ = handover_->Join();
  // After the training the other thread is gone, and with it what it asked for.
  const auto parent = static_cast<pid_t>(job_.setup.parent_pid);
  if (::getppid() == parent) DieWithParent(parent);
}

ProgramWorker::~ProgramWorker() {
  if (!thread_.joinable()) return;
  if (::getpid() != pid_) {
    // A forked child has no such thread, but a copy of the condition that the thread waits for. Its
    // destructor would wait for that thread, without end. So the child leaks what threads share.
    thread_.detach();
    Leak(tracker_);
    Leak(lent_);
    Leak(catalog_);
    Leak(handover_);
    return;
  }
  fmt::print(stderr, "the program ends without having ended its training\n");
  std::fflush(stderr);
  ::_exit(1);
}

StepHandover& ProgramWorker::Handover() const {
  if (::getpid() != pid_) {
    throw ConfigError(
        "a forked child of the program uses Ringside; only the process that called init may");
  }
  return *handover_;
}

bool ProgramWorker::servers_update() const {
  const StrategyEntry& entry = *spec().catalog().FindStrategy(spec().strategy);
  if (!entry.traits.has_servers()) return false;
  if (!entry.Declares(kServerUpdateKey)) return true;
  return spec().catalog().FindKey(kServerUpdateKey)->get(spec()).get<bool>();
}

bool ProgramWorker::program_can_update() const {
  const StrategyEntry& entry = *spec().catalog().FindStrategy(spec().strategy);
  return entry.traits.leaves_sums && !servers_update();
}

std::string ProgramWorker::HowToUpdate() const {
  if (spec().catalog().FindStrategy(spec().strategy)->Declares(kServerUpdateKey)) {
    return fmt::format("--{} off lets servers only sum", kServerUpdateKey);
  }
  std::vector<std::string> leave;
  std::vector<std::string> leave_if_asked;
  for (const StrategyEntry& entry : spec().catalog().strategies()) {
    if (!entry.traits.leaves_sums || !entry.traits.synchronous()) continue;
    if (entry.unavailable != nullptr && !entry.unavailable().empty()) continue;
    (entry.Declares(kServerUpdateKey) ? leave_if_asked : leave).push_back(entry.name);
  }
  return fmt::format(
      "take a strategy that leaves the update to the program: {}; or {} with --{} off",
      fmt::join(leave, ", "), fmt::join(leave_if_asked, " or "), kServerUpdateKey);
}

void ProgramWorker::Register(std::vector<TensorSpec> tensors,
                             const std::optional<OptimizerOptions>& optimizer,
                             double learning_rate) {
  StepHandover& handover = Handover();
  if (registered_) {
    throw ConfigError("the parameters are registered already; there is one model a program");
  }
  if (tensors.empty()) throw ConfigError("the model has no parameter that is trained");
  if (!optimizer && !program_can_update()) {
    throw ConfigError(fmt::format(
        "strategy '{}' updates the parameters itself, and cannot with this optimizer: take SGD, "
        "Adam or AdamW with one group of parameters; or {}",
        spec().strategy, HowToUpdate()));
  }
  ModelUpdate update;
  update.by_model = !optimizer.has_value();
  if (optimizer) update.optimizer = *optimizer;
  rates_ = std::make_shared<GivenRates>(learning_rate);
  update.rates = rates_;
  program_updates_ = update.by_model;
  tensors_ = tensors;
  const StepHandover::Memory memory = handover.Register(std::move(tensors), std::move(update));
  registered_ = true;
  params_ = memory.space->params();
  grads_ = memory.space->grads();
  plan_ = *memory.plan;
  lent_ = std::make_unique<LentStrategy>(handover);
  tracker_ = std::make_unique<BucketTracker>(*memory.space, *memory.plan);
}

std::span<float> ProgramWorker::params() const {
  RequireParameters();
  return params_;
}

std::span<float> ProgramWorker::grads() const {
  RequireParameters();
  return grads_;
}

void ProgramWorker::RequireParameters() const {
  if (!registered_) throw ConfigError("no parameters are registered");
}

bool ProgramWorker::JobListens() const {
  // Before the parameters are in place, the training thread waits for them.
  StepHandover& handover = Handover();
  return handover.loaded() ? handover.WaitForTurn() : !handover.finished();
}

void ProgramWorker::Broadcast(const std::string& what, std::span<std::byte> bytes) {
  // A value of the store has at most twice as many.
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  if (!JobListens()) throw ConfigError("the training has ended");
  const std::string key = fmt::format("program/broadcast/{}", broadcasts_++);
  // The step tells equal broadcasts apart, when a worker has made one too many.
  const std::string what_and_when =
      StepsTogether(spec()) ? fmt::format("{} in step {}", what, step()) : what;
  // One piece at least, because the first one says what they are.
  for (std::size_t begin = 0; begin == 0 || begin < bytes.size(); begin += kPieceBytes) {
    const auto piece = bytes.subspan(begin, std::min(kPieceBytes, bytes.size() - begin));
    const std::string head = begin == 0 ? what_and_when + '\n' : std::string();
    const std::string piece_key = fmt::format("{}/{}", key, begin);
    if (world().rank == 0) {
      const std::string_view values(reinterpret_cast<const char*>(piece.data()), piece.size());
      job_.store->Set(piece_key, head + std::string(values));
      continue;
    }
    const std::string value = job_.store->Get(piece_key, Deadline::After(StartTimeout(spec())));
    if (!value.starts_with(head)) {
      throw ConfigError(
          fmt::format("worker 0 broadcasts {} where this worker takes {}: their programs differ",
                      value.substr(0, value.find('\n')), what_and_when));
    }
    if (value.size() != head.size() + piece.size()) {
      throw ConfigError(fmt::format(
          "worker 0 broadcasts other bytes of {} than this worker takes: their programs differ",
          what));
    }
    std::ranges::copy(std::as_bytes(std::span(value).subspan(head.size())), piece.begin());
  }
}

void ProgramWorker::KeepFile(const std::string& name, const std::string& content) const {
  static_cast<void>(Handover());
  if (world().rank != 0 || job_.setup.bundle_dir.empty()) return;
  const std::string folder = job_.setup.bundle_dir + "/program";
  MakeDirectories(folder);
  WriteFileAtomically(folder + "/" + name, content);
}

void ProgramWorker::AddEvaluation(double loss, const std::optional<double>& accuracy,
                                  std::map<std::string, double> metrics) {
  if (!JobListens() || world().rank != 0) return;
  if (!std::isfinite(loss)) {
    Handover().Fail(std::make_exception_ptr(DivergedError(world().rank, step(), loss)));
  }
  EvaluationRecord record;
  record.step = step();
  record.train_seconds = std::chrono::duration<double>(Clock::now() - first_begin_).count();
  record.loss = loss;
  record.accuracy = accuracy;
  record.metrics = std::move(metrics);
  job_.buffer->Add({record, ""});
}

void ProgramWorker::Loaded() {
  Handover().Loaded();
  PrepareStep();
}

void ProgramWorker::PrepareStep() {
  tracker_->BeginStep(handover_->step(), *lent_);
  ready_.assign(tensors_.size(), false);
}

void ProgramWorker::RequireTensor(int tensor) const {
  if (tensor >= 0 && static_cast<std::size_t>(tensor) < ready_.size()) return;
  throw ConfigError(fmt::format("there is no parameter {}", tensor));
}

void ProgramWorker::AwaitTensor(int tensor) {
  RequireTensor(tensor);
  if (Handover().WaitForTurn()) tracker_->AwaitTensor(tensor);
}

void ProgramWorker::AwaitAll() {
  StepHandover& handover = Handover();
  RequireParameters();
  if (!handover.WaitForTurn()) return;
  if (!program_updates_ || sums_are_scaled_) return tracker_->AwaitAll();
  // The strategy owns what was submitted in this step. The tracker thinks of the parameters that
  // the forward pass of this step has read, so it is not asked.
  for (int bucket = 0; bucket < plan().buckets(); ++bucket) handover.Await(bucket);
  sums_are_scaled_ = true;
  const StrategyEntry& entry = *spec().catalog().FindStrategy(spec().strategy);
  if (entry.traits.averaging() == Averaging::kLocalBatch || spec().workers == 1) return;
  const float scale = 1.0F / static_cast<float>(spec().workers);
  for (float& value : grads()) value *= scale;
}

bool ProgramWorker::Begin(Clock::time_point began, std::optional<Clock::time_point> forward_end,
                          double learning_rate) {
  StepHandover& handover = Handover();
  if (handover.in_step()) return true;
  rates_->Set(step(), learning_rate);
  if (!handover.Begin(began, forward_end)) return false;
  if (step() == 0) first_begin_ = began;
  sums_are_scaled_ = false;
  return true;
}

void ProgramWorker::GradientReady(int tensor, std::span<const float> gradient) {
  StepHandover& handover = Handover();
  RequireTensor(tensor);
  const auto index = static_cast<std::size_t>(tensor);
  const std::string& name = tensors_[index].name;
  if (!handover.in_step()) {
    throw ConfigError(fmt::format("the gradient of '{}' came outside of a step", name));
  }
  if (ready_[index]) {
    throw ConfigError(fmt::format("the gradient of '{}' came twice in step {}", name, step()));
  }
  tracker_->AwaitTensor(tensor);  // the strategy may still read the gradient of the last step
  TakeGradient(index, gradient);
  ready_[index] = true;
  tracker_->TensorReady(tensor);
}

void ProgramWorker::TakeGradient(std::size_t tensor, std::span<const float> gradient) {
  const BucketPlan::Range& range = plan_.tensor_range(static_cast<int>(tensor));
  const std::span<float> to = grads_.subspan(range.begin, range.size());
  if (gradient.empty()) {
    std::ranges::fill(to, 0.0F);
    return;
  }
  const std::string& name = tensors_[tensor].name;
  if (gradient.size() != to.size()) {
    throw ConfigError(fmt::format("the gradient of '{}' has {} values, the parameter has {}", name,
                                  gradient.size(), to.size()));
  }
  // A program may have written it there.
  const auto wrong =
      gradient.data() == to.data() ? FirstNotFinite(gradient) : CopyFinite(gradient, to);
  if (wrong) {
    Handover().Fail(std::make_exception_ptr(
        DivergedError(fmt::format("value {} of the gradient of '{}' on worker {} is {} in step {}",
                                  *wrong, name, world().rank, gradient[*wrong], step()),
                      world().rank, step())));
  }
}

bool ProgramWorker::IsGradientReady(int tensor) const {
  RequireTensor(tensor);
  return ready_[static_cast<std::size_t>(tensor)];
}

void ProgramWorker::EndStep(double loss_sum, std::size_t samples) {
  StepHandover& handover = Handover();
  const auto missing = std::ranges::find(ready_, false);
  if (missing != ready_.end()) {
    const auto index = static_cast<std::size_t>(missing - ready_.begin());
    throw ConfigError(fmt::format("step {} has no gradient of '{}'", step(), tensors_[index].name));
  }
  handover.EndStep(loss_sum, samples);
  PrepareStep();
}

void ProgramWorker::End() {
  if (!thread_.joinable()) return;
  Handover().End();
  thread_.join();
}

void ProgramWorker::Fail(const std::string& reason) {
  Handover().Fail(std::make_exception_ptr(ProgramError(reason)));
}

}  // namespace ringside
