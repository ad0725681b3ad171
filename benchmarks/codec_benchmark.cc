// Times encoding and decoding of a bucket of 4 MiB, in bytes of gradient per second, and a plain
// copy of as many bytes. "Add" decodes onto a sum, as receivers do. PowerSGD's step is everything
// that a worker computes for a bucket.
//   codec_benchmark --benchmark_enable_random_interleaving=true --benchmark_repetitions=5
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ringside/common/codec/codec.h"
#include "ringside/common/codec/codec_table.h"
#include "ringside/common/codec/power_sgd.h"

namespace ringside {
namespace {

constexpr std::size_t kBucket = 1 << 20;

std::vector<float> Gradient() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 1e-3F);
  std::vector<float> values(kBucket);
  for (float& value : values) value = normal(random);
  return values;
}

void CountGradient(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kBucket * sizeof(float)));
}

void Copy(benchmark::State& state) {
  const std::vector<float> from = Gradient();
  std::vector<float> to(kBucket);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), kBucket * sizeof(float));
    benchmark::ClobberMemory();
  }
  CountGradient(state);
}

std::unique_ptr<Codec> CodecOf(const std::string& text, ErrorFeedback feedback) {
  CodecOptions options{.error_feedback = feedback};
  ParseCodec(text, BuiltinCodecs(), options);
  return MakeCodec(options, 0, kBucket);
}

void Encode(benchmark::State& state, const std::string& text, ErrorFeedback feedback) {
  const auto codec = CodecOf(text, feedback);
  const std::vector<float> values = Gradient();
  std::vector<std::byte> bytes(codec->EncodedBytes(kBucket));
  std::int64_t step = 0;
  for (auto _ : state) {
    codec->Encode(values, {.offset = 0, .step = step++}, bytes);
    benchmark::ClobberMemory();
  }
  CountGradient(state);
}

void Add(benchmark::State& state, const std::string& text) {
  const auto codec = CodecOf(text, ErrorFeedback::kOff);
  std::vector<float> values = Gradient();
  std::vector<std::byte> bytes(codec->EncodedBytes(kBucket));
  codec->Encode(values, {}, bytes);
  for (auto _ : state) {
    codec->Add({bytes, kBucket}, 0, 1, values);
    benchmark::ClobberMemory();
  }
  CountGradient(state);
}

void PowerSgdStep(benchmark::State& state) {
  const std::vector<float> values = Gradient();
  std::vector<float> out(kBucket);
  PowerSgd power(PowerSgdShape(kBucket, static_cast<int>(state.range(0))), 1, 0);
  for (auto _ : state) {
    power.ComputeLeft(values, 0);
    power.ComputeRight(values);
    power.Reconstruct(out);
    benchmark::ClobberMemory();
  }
  CountGradient(state);
}

BENCHMARK(Copy);
BENCHMARK_CAPTURE(Encode, fp16, "fp16", ErrorFeedback::kOff);
BENCHMARK_CAPTURE(Encode, bf16, "bf16", ErrorFeedback::kOff);
BENCHMARK_CAPTURE(Encode, int8, "int8", ErrorFeedback::kOff);
BENCHMARK_CAPTURE(Encode, topk_001, "topk:0.01", ErrorFeedback::kOff);
BENCHMARK_CAPTURE(Encode, topk_001_feedback, "topk:0.01", ErrorFeedback::kOn);
BENCHMARK_CAPTURE(Encode, topk_03, "topk:0.3", ErrorFeedback::kOff);
BENCHMARK_CAPTURE(Encode, sign, "sign", ErrorFeedback::kOff);
BENCHMARK_CAPTURE(Encode, sign_feedback, "sign", ErrorFeedback::kOn);
BENCHMARK_CAPTURE(Add, fp16, "fp16");
BENCHMARK_CAPTURE(Add, bf16, "bf16");
BENCHMARK_CAPTURE(Add, int8, "int8");
BENCHMARK_CAPTURE(Add, topk_001, "topk:0.01");
BENCHMARK_CAPTURE(Add, sign, "sign");
BENCHMARK(PowerSgdStep)->Arg(1)->Arg(4)->Arg(8);

}  // namespace
}  // namespace ringside

BENCHMARK_MAIN();
