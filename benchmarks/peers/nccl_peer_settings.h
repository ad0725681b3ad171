#ifndef RINGSIDE_BENCHMARKS_PEERS_NCCL_PEER_SETTINGS_H_
#define RINGSIDE_BENCHMARKS_PEERS_NCCL_PEER_SETTINGS_H_

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "ringside/ring/backends/nccl_settings.h"

namespace ringside {

inline constexpr int kMostNcclPeerRanks = 256;

/// A command line that nccl-peer does not understand.
struct PeerUsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The flags of nccl-peer; the first lines of nccl_all_reduce.cc explain them.
struct NcclPeerSettings {
  int ranks = 0;
  std::vector<std::size_t> bytes;
  std::vector<std::size_t> iterations{20};  // one, or one for each size
  int warmup = 1;
  std::vector<std::size_t> blocking{0};
  bool in_place_alone = false;
  bool share_gpu = false;
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;
  unsigned timeout_s = 300;

  std::size_t IterationsOf(std::size_t size_index) const {
    return iterations.size() == 1 ? iterations.front() : iterations[size_index];
  }
  std::size_t MostBytes() const { return *std::ranges::max_element(bytes); }
};

/// Reads the command line. Throws `PeerUsageError`.
NcclPeerSettings ReadNcclPeerSettings(int argc, char** argv);

}  // namespace ringside

#endif  // RINGSIDE_BENCHMARKS_PEERS_NCCL_PEER_SETTINGS_H_
