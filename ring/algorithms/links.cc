#include "ringside/ring/algorithms/links.h"

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

void Links::ReceiveAdd(int peer, std::span<std::byte> data, std::span<std::byte> scratch,
                       ChunkPhase phase) {
  const auto incoming = scratch.first(data.size());
  Receive(peer, incoming, phase);
  Add(reinterpret_cast<float*>(data.data()), reinterpret_cast<const float*>(incoming.data()),
      data.size() / sizeof(float));
}

void AddInto(std::span<float> sum, std::span<const float> term) {
  Add(sum.data(), term.data(), sum.size());
}

}  // namespace ringside
