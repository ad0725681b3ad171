#include "ringside/ring/transports/gloo_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "ringside/common/core/deadline.h"
#include "ringside/common/core/errors.h"
#include "ringside/ring/algorithms/ring_algorithms.h"
#include "ringside/ring/core/failure_attribution.h"
#include "ringside/ring/transports/sigpipe_guard.h"

namespace ringside {
namespace {

constexpr std::string_view kAllReduce = "all-reduce of";

/// Broadcast and all-gather use the ring, whatever the algorithm.
std::vector<int> PeersOf(const World& world, std::span<const LinkAlgorithm* const> algorithms) {
  auto peers = RingPeers(world.rank, world.workers);
  for (const LinkAlgorithm* algorithm : algorithms) {
    std::ranges::copy(algorithm->peers(world.rank, world.workers), std::back_inserter(peers));
  }
  return peers;
}

std::vector<int> NumbersInJob(const World& world, std::vector<int> workers) {
  if (!workers.empty()) return workers;
  workers.resize(static_cast<std::size_t>(world.workers));
  std::iota(workers.begin(), workers.end(), 0);
  return workers;
}

}  // namespace

GlooCollective::GlooCollective(const World& world, Store& store, const CommOptions& comm,
                               std::span<const LinkAlgorithm* const> algorithms, std::string prefix,
                               std::vector<int> workers)
    : world_(world),
      of_job_(NumbersInJob(world, std::move(workers))),
      store_(store),
      algorithm_(algorithms.front()),
      prefix_(std::move(prefix)) {
  if (world.workers == 1) return;
  const SigpipeGuard guard;
  scratch_.resize(Links::kSegmentBytes);
  try {
    links_ = ConnectGloo({.world = world,
                          .store = store,
                          .comm = comm,
                          .prefix = prefix_,
                          .peers = PeersOf(world, algorithms),
                          .workers = of_job_});
  } catch (const CommError& error) {
    Fail(Operation("the start of the ring"), error);
  }
}

void GlooCollective::AllReduceSum(const BucketMessage& message) {
  Run({kAllReduce, message}, [&](Links& links) {
    algorithm_->all_reduce(links, world_.rank, world_.workers, message.data, scratch_);
  });
}

void GlooCollective::PrepareEncoded(const BucketPlan& plan, const Codec& codec) {
  for (int bucket = 0; bucket < plan.buckets(); ++bucket) {
    encoded_.Reserve(plan.range(bucket).size(), codec, world_.workers);
  }
}

void GlooCollective::AllReduceEncoded(const BucketMessage& message, Codec& codec) {
  Run({kAllReduce, message}, [&](Links& links) {
    EncodedAllReduce(*algorithm_, links, world_.rank, world_.workers, message, codec, encoded_,
                     scratch_);
  });
}

void GlooCollective::Broadcast(std::span<std::byte> data, int root) {
  Run(Operation::WithWorker("broadcast from", WorkerOf(root)),
      [&](Links& links) { RingBroadcast(links, world_.rank, world_.workers, root, data); });
}

void GlooCollective::AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) {
  all.resize(mine.size() * static_cast<std::size_t>(world_.workers));
  std::ranges::copy(mine, all.begin() + static_cast<std::ptrdiff_t>(mine.size()) * world_.rank);
  Run(Operation("all-gather"),
      [&](Links& links) { RingAllGather(links, world_.rank, world_.workers, all); });
}

std::size_t GlooCollective::segment_bytes() const {
  return world_.workers > 1 && algorithm_->topology == Topology::kRing ? Links::kSegmentBytes : 0;
}

template <typename Steps>
void GlooCollective::Run(const Operation& operation, const Steps& steps) {
  failure_.Check();
  if (links_ == nullptr) return;
  const SigpipeGuard guard;
  try {
    steps(*links_);
    traffic_ = links_->traffic();
  } catch (const CommError& error) {
    Fail(operation, error);
  }
}

void GlooCollective::Fail(const Operation& operation, const CommError& seen) {
  const std::string self = fmt::format("worker {}", WorkerOf(world_.rank));
  ReportMissingPeer(store_, prefix_, self, seen.peer());
  links_.reset();
  const std::string culprit = FindFailedPeer(store_, prefix_, self, seen.peer());
  std::string reason = seen.what();
  if (culprit != seen.peer()) reason += "; " + culprit + " is the one that is missing";
  const CommError failure(culprit, operation.Text(), reason);
  failure_.Set(failure);
  throw failure;
}

}  // namespace ringside
