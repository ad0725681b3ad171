#include "ringside/ring/transports/gloo_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/base/sigpipe_guard.h"
#include "ringside/ring/algorithms/ring_algorithms.h"
#include "ringside/ring/transports/reachability.h"
#include "ringside/ring/transports/recorded_links.h"

namespace ringside {
namespace {

constexpr std::string_view kAllReduce = "all-reduce of";
/// How long a rank waits for the answers of the others when the collective has failed, in the run's
/// time.
constexpr std::chrono::milliseconds kProbeTime{300};

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
    // What lies in no flat vector, such as a factor of PowerSGD, has no elements there.
    const std::size_t floats = message.vector == FlatVector::kNone ? 0 : 1;
    Recorded(links, message, std::as_bytes(message.data), floats, [&](Links& recorded) {
      algorithm_->all_reduce(recorded, world_.rank, world_.workers, message.data, scratch_);
    });
  });
}

void GlooCollective::PrepareEncoded(const BucketPlan& plan, const Codec& codec) {
  for (int bucket = 0; bucket < plan.buckets(); ++bucket) {
    encoded_.Reserve(plan.range(bucket).size(), codec, world_.workers);
  }
}

void GlooCollective::AllReduceEncoded(const BucketMessage& message, Codec& codec) {
  Run({kAllReduce, message}, [&](Links& links) {
    EncodedLinks cells(links, world_.workers, message, codec, encoded_);
    Recorded(
        cells, message, std::as_bytes(cells.wire()), cells.cell_floats(), [&](Links& recorded) {
          algorithm_->all_reduce(recorded, world_.rank, world_.workers, cells.wire(), scratch_);
        });
    cells.Finish();
  });
}

void GlooCollective::Broadcast(std::span<std::byte> data, int root) {
  Run(Operation::WithWorker("broadcast from", WorkerOf(root)),
      [&](Links& links) { RingBroadcast(links, world_.rank, world_.workers, root, data); });
}

void GlooCollective::AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) {
  PlaceMine(mine, all);
  Run(Operation("all-gather"),
      [&](Links& links) { RingAllGather(links, world_.rank, world_.workers, all); });
}

void GlooCollective::AllGatherOf(const BucketMessage& message, std::span<const std::byte> mine,
                                 std::vector<std::byte>& all) {
  PlaceMine(mine, all);
  Run({"all-gather of", message}, [&](Links& links) {
    Recorded(links, message, all, 0,
             [&](Links& recorded) { RingAllGather(recorded, world_.rank, world_.workers, all); });
  });
}

std::size_t GlooCollective::segment_bytes() const {
  return world_.workers > 1 && algorithm_->topology == Topology::kRing ? Links::kSegmentBytes : 0;
}

void GlooCollective::PlaceMine(std::span<const std::byte> mine, std::vector<std::byte>& all) const {
  all.resize(mine.size() * static_cast<std::size_t>(world_.workers));
  std::ranges::copy(mine, all.begin() + static_cast<std::ptrdiff_t>(mine.size()) * world_.rank);
}

template <typename Steps>
void GlooCollective::Recorded(Links& links, const BucketMessage& message,
                              std::span<const std::byte> memory, std::size_t floats_per_element,
                              const Steps& steps) {
  if (timeline_ == nullptr || !timeline_->enabled() || message.bucket == BucketMessage::kNoBucket) {
    return steps(links);
  }
  RecordedLinks recorded(links, {.timeline = *timeline_,
                                 .message = message,
                                 .memory = memory,
                                 .floats_per_element = floats_per_element,
                                 .workers = of_job_});
  steps(recorded);
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
  ReportMissingPeer(store_, prefix_, NameOf(world_.rank), seen.peer());
  std::vector<std::string> endpoints;
  if (links_ != nullptr) endpoints.assign(links_->endpoints().begin(), links_->endpoints().end());
  links_.reset();
  const Blame blame = FindBlame(seen.peer(), endpoints);
  std::string reason = blame.culprit == seen.peer()
                           ? fmt::format("{}: {}", seen.operation(), seen.reason())
                           : seen.what();
  if (blame.accusers > 0) {
    reason += fmt::format("; {} is cut off, say {} of the {} ranks that were asked", blame.culprit,
                          blame.accusers, blame.voters);
  } else if (blame.culprit != seen.peer()) {
    reason += "; " + blame.culprit + " is the one that is missing";
  }
  const CommError failure(blame.culprit, operation.Text(), reason);
  failure_.Set(failure);
  throw failure;
}

Blame GlooCollective::FindBlame(const std::string& suspect,
                                std::span<const std::string> endpoints) const {
  std::vector<std::string> ranks;
  for (int rank = 0; rank < world_.workers; ++rank) ranks.push_back(NameOf(rank));
  const auto self = static_cast<std::size_t>(world_.rank);
  Ballot ballot{.suspect = suspect, .probe_time = DilatedClock::ToMachine(kProbeTime)};
  if (!endpoints.empty()) {  // Without them it failed before it knew whom it could reach.
    std::vector<std::string> unreachable;
    const Deadline probed = Deadline::After(ballot.probe_time);
    for (const int rank : UnreachableEndpoints(endpoints, world_.rank, probed)) {
      unreachable.push_back(NameOf(rank));
    }
    ballot.probed = ballot.probe_time - probed.remaining();
    ballot.accused = Accused(ranks[self], ranks, unreachable, LinkIsDown(endpoints[self]));
  }
  return FindCulprit(store_, prefix_, ranks[self], ranks, ballot);
}

}  // namespace ringside
