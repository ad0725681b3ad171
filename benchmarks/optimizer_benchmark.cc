// Times updates of the flat vector in bytes per second, and a plain copy as the upper limit. The
// sizes are a bucket that fits in cache and an MLP of 5.8 M parameters that does not.
//   optimizer_benchmark --benchmark_enable_random_interleaving=true --benchmark_repetitions=5
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "ringside/common/optim/optimizer.h"

namespace ringside {
namespace {

using Kind = OptimizerOptions::Kind;

constexpr std::int64_t kBucket = 1 << 16;
constexpr std::int64_t kMlp = 5'824'522;

// The memory traffic of an update. It reads the parameter, the gradient and each state value, and
// writes the parameter and each state value.
std::int64_t Bytes(const Optimizer& optimizer, std::int64_t size) {
  return size * (3 + 2 * optimizer.state_per_parameter()) *
         static_cast<std::int64_t>(sizeof(float));
}

void Apply(benchmark::State& state, const OptimizerOptions& options) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const auto optimizer = Optimizer::Make(options, size);
  std::vector<float> params(size, 1.0F);
  const std::vector<float> grads(size, 1e-3F);
  Update update{.number = 1, .learning_rate = 1e-3};
  for (auto _ : state) {
    optimizer->Apply(0, params, grads, update);
    benchmark::ClobberMemory();
    ++update.number;
  }
  state.SetBytesProcessed(state.iterations() * Bytes(*optimizer, state.range(0)));
}

// A plain copy, which reads and writes all its bytes.
void Copy(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const std::vector<float> from(size, 1.0F);
  std::vector<float> to(size);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), size * sizeof(float));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 2 *
                          static_cast<std::int64_t>(sizeof(float)));
}

BENCHMARK(Copy)->Arg(kBucket)->Arg(kMlp);
BENCHMARK_CAPTURE(Apply, sgd, OptimizerOptions{})->Arg(kBucket)->Arg(kMlp);
BENCHMARK_CAPTURE(Apply, momentum, OptimizerOptions{.momentum = 0.9})->Arg(kBucket)->Arg(kMlp);
BENCHMARK_CAPTURE(Apply, nesterov, OptimizerOptions{.momentum = 0.9, .nesterov = true})
    ->Arg(kBucket)
    ->Arg(kMlp);
BENCHMARK_CAPTURE(Apply, adam, OptimizerOptions{.kind = Kind::kAdam})->Arg(kBucket)->Arg(kMlp);

}  // namespace
}  // namespace ringside

BENCHMARK_MAIN();
