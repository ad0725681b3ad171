// Ringside's overhead on one worker: the step time of `mlp` with strategy `none`, compared with the
// same network in a plain training loop as in libtorch's documentation (torch::nn,
// torch::optim::SGD, the same batch every step, no data pipeline). `plain` uses the optimizer's
// zero_grad(), which fills gradients with zeros in libtorch 1.13. `plain_undefined` undefines them,
// as later versions do.
//
// All run in one process with one thread and a worker's allocator settings (which save the plain
// loops page faults), in interleaved rounds. Prints one JSON object with medians over all steps of
// all rounds.
//
// usage: plain_loop_benchmark [--rounds N] [--steps STEPS_PER_ROUND] [--batch N]
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "ringside/common/base/allocator.h"
#include "ringside/common/strategy/none_strategy.h"
#include "ringside/common/training/trainer.h"
#include "ringside/models/data/synthetic.h"
#include "ringside/models/torch/torch_model_table.h"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLearningRate = 0.01;

struct Options {
  int rounds = 7;
  int steps = 20;
  int batch = 32;
};

// Exits with 2 on any arguments but those above.
Options ParseOptions(int argc, char** argv) {
  Options options;
  const std::map<std::string_view, int*> flags{
      {"--rounds", &options.rounds}, {"--steps", &options.steps}, {"--batch", &options.batch}};
  for (int i = 1; i < argc; i += 2) {
    const auto flag = flags.find(argv[i]);
    const int value = i + 1 < argc ? std::atoi(argv[i + 1]) : 0;
    if (flag == flags.end() || value < 1) {
      fmt::print(stderr, "usage: plain_loop_benchmark [--rounds N] [--steps N] [--batch N]\n");
      std::exit(2);
    }
    *flag->second = value;
  }
  return options;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The peer: plain libtorch.
class PlainLoop {
 public:
  PlainLoop(std::int64_t batch, bool undefine)
      : undefine_(undefine),
        network_(torch::nn::Linear(784, 2048), torch::nn::ReLU(), torch::nn::Linear(2048, 2048),
                 torch::nn::ReLU(), torch::nn::Linear(2048, 10)),
        optimizer_(network_->parameters(), torch::optim::SGDOptions(kLearningRate)),
        inputs_(torch::randn({batch, 784})),
        labels_(torch::randint(0, 10, {batch}, torch::kLong)) {}

  void Step() {
    if (undefine_) {
      for (const torch::Tensor& parameter : network_->parameters())
        parameter.mutable_grad().reset();
    } else {
      optimizer_.zero_grad();
    }
    torch::nn::functional::cross_entropy(network_->forward(inputs_), labels_).backward();
    optimizer_.step();
  }

 private:
  bool undefine_;
  torch::nn::Sequential network_;
  torch::optim::SGD optimizer_;
  torch::Tensor inputs_;
  torch::Tensor labels_;
};

void TimePlainRound(PlainLoop& loop, int steps, std::vector<double>& step_ms) {
  for (int step = 0; step < steps; ++step) {
    const Clock::time_point begin = Clock::now();
    loop.Step();
    const std::chrono::duration<double, std::milli> duration = Clock::now() - begin;
    step_ms.push_back(duration.count());
  }
}

/// Ringside's own loop: data pipeline, trainer, model, strategy `none`, optimizer.
class RingsideLoop {
 public:
  RingsideLoop(const Dataset& dataset, std::int64_t batch)
      : dataset_(dataset),
        batch_(batch),
        model_(TorchModelTable().front().make({.input = dataset.shape()})),
        plan_(model_->Tensors(), {}),
        space_(plan_.elements()),
        optimizer_(Optimizer::Make({}, plan_.elements())),
        schedule_(ScheduleOptions{.base = kLearningRate}) {
    model_->Bind(space_, plan_);
  }

  void TimeRound(int steps, std::vector<double>& step_ms) {
    Recorder recorder(static_cast<std::size_t>(steps));
    Timeline timeline;
    NoneStrategy strategy({world_, store_, comm_, *optimizer_, schedule_, recorder, timeline});
    TrainerObserver observer;
    TrainerOptions options;
    options.start.step = done_;
    options.end_step = done_ += steps;
    options.global_batch = static_cast<std::size_t>(batch_);
    Train(
        {world_, *model_, strategy, space_, plan_, dataset_, store_, recorder, timeline, observer},
        options);
    for (const StepRecord& record : recorder.steps()) step_ms.push_back(record.step_ms);
  }

 private:
  const Dataset& dataset_;
  std::int64_t batch_;
  World world_;
  InProcessStore store_;
  CommOptions comm_;
  std::unique_ptr<Model> model_;
  BucketPlan plan_;
  FlatSpace space_;
  std::unique_ptr<Optimizer> optimizer_;
  Schedule schedule_;
  std::int64_t done_ = 0;
};

void Run(const Options& options) {
  const std::unique_ptr<Dataset> dataset = MakeSynthetic(1);
  RingsideLoop ours(*dataset, options.batch);  // sets one thread
  PlainLoop plain(options.batch, false);
  PlainLoop undefined(options.batch, true);
  std::vector<double> warm_up, ours_ms, plain_ms, undefined_ms;
  for (int round = -1; round < options.rounds; ++round) {
    const bool warm = round < 0;
    ours.TimeRound(options.steps, warm ? warm_up : ours_ms);
    TimePlainRound(plain, options.steps, warm ? warm_up : plain_ms);
    TimePlainRound(undefined, options.steps, warm ? warm_up : undefined_ms);
  }
  const double mine = Median(ours_ms);
  const double plain_median = Median(plain_ms);
  const double undefined_median = Median(undefined_ms);
  fmt::print(
      "{{\"schema\": \"ringside.plain_loop/1\", \"batch\": {}, \"steps\": {}, \"ours_ms\": {:.3f}, "
      "\"plain_ms\": {:.3f}, \"plain_undefined_ms\": {:.3f}, \"ratio\": {:.3f}, "
      "\"ratio_to_undefined\": {:.3f}}}\n",
      options.batch, ours_ms.size(), mine, plain_median, undefined_median, mine / plain_median,
      mine / undefined_median);
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  ringside::KeepFreedMemory();
  ringside::Run(ringside::ParseOptions(argc, argv));
  return 0;
}
