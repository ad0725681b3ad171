// One rank of process_conformance_test: drives a strategy of the table whose ranks must be
// processes, and exits with 0 when the sums are exact. usage: process_rank STRATEGY RANK WORKERS
// COORDINATOR sum|leave (RANK "mpirun": as mpirun says)
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/job/coordinator/coordinator_client.h"
#include "tests/common/thread_ranks.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;

constexpr float kLearningRate = 0.25F;
constexpr std::int64_t kSteps = 3;

float InitialOf(int rank, std::size_t i) { return static_cast<float>(i % 11) + 50.0F * rank; }

float GradientOf(int rank, std::int64_t step, std::size_t i) {
  return static_cast<float>((rank + 1) * (step + 1) * static_cast<std::int64_t>(i % 5));
}

float ExpectedOf(int workers, std::size_t i) {
  float value = InitialOf(0, i);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    for (int rank = 0; rank < workers; ++rank) value -= kLearningRate * GradientOf(rank, step, i);
  }
  return value;
}

/// A part of the job's store: each strategy of a job has one to itself.
class PartOfStore : public Store {
 public:
  PartOfStore(Store& store, std::string prefix) : store_(store), prefix_(std::move(prefix)) {}
  void Set(std::string_view key, std::string_view value) override {
    store_.Set(prefix_ + std::string(key), value);
  }
  std::string Get(std::string_view key, const Deadline& deadline) override {
    return store_.Get(prefix_ + std::string(key), deadline);
  }

 private:
  Store& store_;
  std::string prefix_;
};

/// One strategy and the objects that it needs.
class Worker {
 public:
  Worker(const StrategyEntry& entry, const World& world, Store& store, const std::string& name,
         std::size_t elements, std::chrono::milliseconds timeout)
      : world_(world),
        store_(store, name + "/"),
        comm_{.token = "secret", .timeout = timeout},
        plan_(std::vector<TensorSpec>{{"a", elements / 3}, {"b", elements - elements / 3}},
              {.target_bytes = 64 << 10, .first_bytes = 1024}),
        space_(elements),
        optimizer_(Optimizer::Make({}, elements)),
        strategy_(
            entry.make({world_, store_, comm_, *optimizer_, schedule_, recorder_, timeline_})) {
    for (std::size_t i = 0; i < elements; ++i) space_.params()[i] = InitialOf(world_.rank, i);
    strategy_->Start(space_, plan_, {});
  }

  void Step(std::int64_t step) {
    for (std::size_t i = 0; i < space_.size(); ++i) {
      space_.grads()[i] = GradientOf(world_.rank, step, i);
    }
    for (int b = plan_.buckets() - 1; b >= 0; --b) {
      strategy_->Submit(MakeBucket(space_, plan_, b, step));
    }
    for (int b = 0; b < plan_.buckets(); ++b) {
      strategy_->Await(MakeBucket(space_, plan_, b, step + 1));
    }
  }

  void Check() const {
    for (std::size_t i = 0; i < space_.size(); ++i) {
      const float expected = ExpectedOf(world_.workers, i);
      if (space_.params()[i] == expected) continue;
      throw InternalError(fmt::format("rank {}, {} elements, element {}: {} instead of {}",
                                      world_.rank, space_.size(), i, space_.params()[i], expected));
    }
  }

  void Stop() { strategy_->Stop(); }

 private:
  World world_;
  PartOfStore store_;
  CommOptions comm_;
  BucketPlan plan_;
  FlatSpace space_;
  std::unique_ptr<Optimizer> optimizer_;
  Schedule schedule_{ScheduleOptions{.base = kLearningRate}};
  Recorder recorder_{16};
  Timeline timeline_;
  std::unique_ptr<Strategy> strategy_;
};

void Sum(const StrategyEntry& entry, const World& world, Store& store) {
  const auto n = static_cast<std::size_t>(world.workers);
  int strategies = 0;
  for (const std::size_t elements :
       {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1, std::size_t{100'000}}) {
    Worker worker(entry, world, store, fmt::format("strategy {}", strategies++), elements, 30s);
    for (std::int64_t step = 0; step < kSteps; ++step) worker.Step(step);
    worker.Check();
    worker.Stop();
  }
}

/// Rank 0 stays, but its strategy is destroyed. The others must fail, and say so in the store.
[[noreturn]] void Leave(const StrategyEntry& entry, const World& world, Store& store) {
  auto worker = std::make_unique<Worker>(entry, world, store, "strategy", 1000, 2s);
  worker->Step(0);
  if (world.rank == 0) {
    worker.reset();
  } else {
    std::string failure = "none";
    try {
      worker->Step(1);
    } catch (const CommError& error) {
      failure = error.what();
    }
    store.Set(fmt::format("failure of {}", world.rank), failure);
  }
  // mpirun ends all ranks when the first one goes.
  for (int rank = 1; rank < world.workers; ++rank) {
    store.Get(fmt::format("failure of {}", rank), Deadline::After(60s));
  }
  ::_exit(0);  // the others have failed, so an orderly end is not possible
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  using namespace ringside;
  const std::vector<std::string> args(argv + 1, argv + argc);
  try {
    const std::string rank_text =
        args.at(1) == "mpirun" ? std::getenv("OMPI_COMM_WORLD_RANK") : args.at(1);
    const World world = TestWorld(std::stoi(rank_text), std::stoi(args.at(2)));
    CoordinatorClient store({.target = args.at(3), .token = "secret"});
    store.Join({.who = {Role::kWorker, world.rank}, .pid = ::getpid()},
               Deadline::After(std::chrono::seconds(30)));
    const StrategyEntry& entry = *TestCatalog().FindStrategy(args.at(0));
    if (args.at(4) == "leave") Leave(entry, world, store);
    Sum(entry, world, store);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
