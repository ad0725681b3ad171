#include "ring/gloo_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "common/deadline.h"
#include "common/errors.h"
#include "ring/encoded_links.h"
#include "ring/ring_algorithms.h"
#include "ring/sigpipe_guard.h"
#include "ring/suspects.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;

/// Broadcast and all-gather use the ring under all algorithms.
std::vector<int> PeersOf(const World& world, std::span<const RingAlgorithm> algorithms) {
  auto peers = RingPeers(world.rank, world.workers);
  for (const RingAlgorithm algorithm : algorithms) {
    std::ranges::copy(AlgorithmOf(algorithm).peers(world.rank, world.workers),
                      std::back_inserter(peers));
  }
  return peers;
}

}  // namespace

GlooCollective::GlooCollective(const World& world, Store& store, const CommOptions& comm,
                               std::span<const RingAlgorithm> algorithms, std::string prefix)
    : world_(world),
      store_(store),
      algorithm_(&AlgorithmOf(algorithms.front())),
      prefix_(std::move(prefix)) {
  if (world.workers == 1) return;
  const SigpipeGuard guard;
  scratch_.resize(Links::kSegmentBytes);
  try {
    links_ = std::make_unique<GlooLinks>(GlooLinksOptions{.world = world,
                                                          .store = store,
                                                          .comm = comm,
                                                          .prefix = prefix_,
                                                          .peers = PeersOf(world, algorithms)});
  } catch (const CommError& error) {
    Fail("the start of the ring", error);
  }
}

void GlooCollective::AllReduceSum(std::span<float> data, const std::string& what) {
  Run("all-reduce of " + what, [&](Links& links) {
    algorithm_->all_reduce(links, world_.rank, world_.workers, data, scratch_);
  });
}

void GlooCollective::AllReduceEncoded(std::span<float> data, Codec& codec, const CodecPlace& place,
                                      const std::string& what) {
  Run("all-reduce of " + what, [&](Links& links) {
    EncodedAllReduce(*algorithm_, links, world_.rank, world_.workers, data, codec, place, wire_,
                     scratch_);
  });
}

void GlooCollective::Broadcast(std::span<float> data, int root) {
  Run(fmt::format("broadcast from worker {}", root), [&](Links& links) {
    RingBroadcast(links, world_.rank, world_.workers, root, std::as_writable_bytes(data));
  });
}

std::vector<std::byte> GlooCollective::AllGather(std::span<const std::byte> mine) {
  std::vector<std::byte> blocks(mine.size() * static_cast<std::size_t>(world_.workers));
  std::ranges::copy(mine, blocks.begin() + static_cast<std::ptrdiff_t>(mine.size()) * world_.rank);
  Run("all-gather",
      [&](Links& links) { RingAllGather(links, world_.rank, world_.workers, blocks); });
  return blocks;
}

void GlooCollective::Run(const std::string& operation, const std::function<void(Links&)>& steps) {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  if (links_ == nullptr) return;
  const SigpipeGuard guard;
  try {
    steps(*links_);
    traffic_ = links_->traffic();
  } catch (const CommError& error) {
    Fail(operation, error);
  }
}

void GlooCollective::Fail(const std::string& operation, const CommError& seen) {
  const std::string self = fmt::format("worker {}", world_.rank);
  ReportSuspect(store_, prefix_, self, seen.peer());
  links_.reset();
  const std::string culprit = FindCulprit(store_, prefix_, self, seen.peer());
  std::string reason = seen.what();
  if (culprit != seen.peer()) reason += "; " + culprit + " is the one that is missing";
  failure_ = std::make_exception_ptr(CommError(culprit, operation, reason));
  std::rethrow_exception(failure_);
}

}  // namespace ringside
