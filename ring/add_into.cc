#include "ring/add_into.h"

namespace ringside {
namespace {

#ifdef RINGSIDE_NO_TARGET_CLONES
#define RINGSIDE_CLONES
#else
#define RINGSIDE_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif

RINGSIDE_CLONES void Add(float* __restrict sum, const float* __restrict term, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += term[i];
}

}  // namespace

void AddInto(std::span<float> sum, std::span<const float> term) {
  Add(sum.data(), term.data(), sum.size());
}

void AddInto(std::span<std::byte> sum, std::span<const std::byte> term) {
  Add(reinterpret_cast<float*>(sum.data()), reinterpret_cast<const float*>(term.data()),
      sum.size() / sizeof(float));
}

}  // namespace ringside
