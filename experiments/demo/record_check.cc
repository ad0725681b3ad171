#include "ringside/experiments/demo/record_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

namespace ringside {
namespace {

using nlohmann::json;

/// A trace has times of whole nanoseconds, as the record. Clocks of several hosts are not as exact.
constexpr std::int64_t kRounding = 2;

std::string NameOf(int node, int workers) {
  return node < workers ? fmt::format("worker {}", node) : fmt::format("server {}", node - workers);
}

/// One bucket of one worker in one step.
using BucketStep = std::tuple<int, std::int64_t, int>;

struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

class Checker {
 public:
  explicit Checker(const RecordedRun& run) : run_(run), workers_(run.workers()) {
    const json& head = run.chunks.head;
    ring_ = head.value("strategy", json()) == "ring";
    all_steps_ = head.value("steps", json()) == "all";
    whole_ = run.chunks.complete && run.chunks.dropped == 0 &&
             head.value("status", json()) == kStatusDone && !LostWorkers();
    out_.nodes.resize(static_cast<std::size_t>(workers_) + static_cast<std::size_t>(run.servers()));
    out_.last_ns.assign(out_.nodes.size(), -1);
    if (const json elements = head.value("bucket_elements", json()); elements.is_array()) {
      for (const json& count : elements) {
        elements_.push_back(count.is_number_integer() ? count.get<std::uint64_t>() : 0);
      }
    }
  }

  RecordCheck Check() {
    FindSpans();
    for (const Transfer& transfer : run_.traffic.transfers) CheckTransfer(transfer);
    if (ring_) CheckHops();
    CheckAmounts();
    CheckVersions();
    CheckLast();
    CheckSummary();
    return std::move(out_);
  }

 private:
  template <typename... Values>
  void Problem(fmt::format_string<Values...> format, Values&&... values) {
    if (out_.problems.size() == RecordCheck::kMostProblems) {
      ++out_.further_problems;
    } else {
      out_.problems.push_back(fmt::format(format, std::forward<Values>(values)...));
    }
  }

  bool LostWorkers() const {
    const auto lost = run_.summary.find("lost_workers");
    return lost != run_.summary.end() && !lost->empty();
  }

  std::string Name(const Transfer& transfer) const {
    return fmt::format("{} of bucket {} in step {} from {} to {}", ChunkPhaseName(transfer.phase),
                       transfer.bucket, transfer.step, NameOf(transfer.from, workers_),
                       NameOf(transfer.to, workers_));
  }

  bool IsNode(int node) const { return node >= 0 && node < static_cast<int>(out_.nodes.size()); }

  /// The time from the first `wire` or `apply` of a worker's bucket to the last one.
  void FindSpans() {
    for (const RecordedSpan& span : run_.spans) {
      if (span.process >= workers_ || span.lane > kQueueLane) continue;
      if (span.kind != SpanKind::kWire && span.kind != SpanKind::kApply) continue;
      const auto [at, added] = spans_.try_emplace({span.process, span.step, span.bucket},
                                                  Interval{span.begin, span.end});
      at->second.begin = std::min(at->second.begin, span.begin);
      at->second.end = std::max(at->second.end, span.end);
    }
  }

  void CheckTransfer(const Transfer& transfer) {
    if (!IsNode(transfer.from) || !IsNode(transfer.to)) {
      return Problem("{}: the run has no such node", Name(transfer));
    }
    Count(transfer);
    CheckInside(transfer, transfer.from, transfer.begin, transfer.sent);
    CheckInside(transfer, transfer.to, transfer.arrived, transfer.arrived);
    const bool both = transfer.begin >= 0 && transfer.arrived >= 0;
    if (!both) {
      if (whole_) Problem("{}: only one end recorded it", Name(transfer));
      return;
    }
    if (transfer.bytes_sent != transfer.bytes_received) {
      Problem("{}: {} bytes were sent and {} received", Name(transfer), transfer.bytes_sent,
              transfer.bytes_received);
    }
    if (transfer.version != transfer.version_received) {
      Problem("{}: it is of version {} to one end and {} to the other", Name(transfer),
              transfer.version, transfer.version_received);
    }
    if (transfer.phase == ChunkPhase::kPull && transfer.staleness != transfer.staleness_received) {
      Problem("{}: its staleness is {} to one end and {} to the other", Name(transfer),
              transfer.staleness, transfer.staleness_received);
    }
    if (transfer.arrived < transfer.begin) {
      Problem("{}: it arrived {} ns before it was sent", Name(transfer),
              transfer.begin - transfer.arrived);
    }
  }

  void Count(const Transfer& transfer) {
    if (transfer.begin >= 0) {
      PhaseTraffic& sent = out_.nodes[static_cast<std::size_t>(transfer.from)][transfer.phase];
      ++sent.chunks_sent;
      sent.bytes_sent += transfer.bytes_sent;
    }
    if (transfer.arrived >= 0) {
      PhaseTraffic& received = out_.nodes[static_cast<std::size_t>(transfer.to)][transfer.phase];
      ++received.chunks_received;
      received.bytes_received += transfer.bytes_received;
    }
    for (const int node : {transfer.from, transfer.to}) {
      std::int64_t& last = out_.last_ns[static_cast<std::size_t>(node)];
      last = std::max(last, transfer.last());
    }
  }

  /// A worker's chunk lies in the time of its bucket.
  void CheckInside(const Transfer& transfer, int node, std::int64_t begin, std::int64_t end) {
    if (node >= workers_ || begin < 0) return;
    const auto found = spans_.find({node, transfer.step, transfer.bucket});
    if (found == spans_.end()) return;
    const Interval& span = found->second;
    if (begin >= span.begin - kRounding && end <= span.end + kRounding) return;
    Problem("{}: {} recorded it at {} to {} ns, outside of its bucket's {} to {} ns",
            Name(transfer), NameOf(node, workers_), begin, end, span.begin, span.end);
  }

  /// Each chunk of a ring passes from rank to rank.
  void CheckHops() {
    std::map<std::tuple<std::int64_t, int, ChunkPhase, std::uint64_t>, std::vector<const Transfer*>>
        ways;
    for (const Transfer& transfer : run_.traffic.transfers) {
      if (transfer.from >= workers_ || transfer.to >= workers_) continue;
      if ((transfer.from + 1) % workers_ != transfer.to) {
        Problem("{}: a ring sends to the next rank alone", Name(transfer));
      }
      if (transfer.begin < 0 || !transfer.offset || transfer.elements == 0) continue;
      ways[{transfer.step, transfer.bucket, transfer.phase, *transfer.offset}].push_back(&transfer);
    }
    for (auto& [key, way] : ways) CheckWay(way);
  }

  void CheckWay(std::vector<const Transfer*>& way) {
    std::ranges::stable_sort(way, {}, [](const Transfer* hop) { return hop->begin; });
    for (std::size_t i = 1; i < way.size(); ++i) {
      if (way[i]->from == way[i - 1]->to) continue;
      return Problem("{}: the hop before it ended at {}", Name(*way[i]),
                     NameOf(way[i - 1]->to, workers_));
    }
    if (whole_ && static_cast<int>(way.size()) != workers_ - 1) {
      Problem("{}: the chunk makes {} hops, and a ring of {} ranks has {}", Name(*way.front()),
              way.size(), workers_, workers_ - 1);
    }
  }

  /// In every phase, every worker sends or gets the same part of a bucket.
  void CheckAmounts() {
    std::map<std::tuple<ChunkPhase, std::int64_t, int>, std::map<int, std::uint64_t>> amounts;
    for (const Transfer& transfer : run_.traffic.transfers) {
      const bool pull = transfer.phase == ChunkPhase::kPull;
      if (!pull && transfer.phase != ChunkPhase::kPush && !ring_) continue;
      const int worker = pull ? transfer.to : transfer.from;
      amounts[{transfer.phase, transfer.step, transfer.bucket}][worker] += transfer.elements;
    }
    for (const auto& [key, by_worker] : amounts) {
      const auto& [phase, step, bucket] = key;
      const bool encoded =
          std::ranges::all_of(by_worker, [](const auto& worker) { return worker.second == 0; });
      if (!whole_ || encoded || bucket < 0 || bucket >= static_cast<int>(elements_.size()))
        continue;
      CheckAmount(phase, step, bucket, by_worker);
    }
  }

  void CheckAmount(ChunkPhase phase, std::int64_t step, int bucket,
                   const std::map<int, std::uint64_t>& by_worker) {
    const std::uint64_t elements = elements_[static_cast<std::size_t>(bucket)];
    const bool pairs = phase == ChunkPhase::kPush || phase == ChunkPhase::kPull;
    if (pairs) {
      for (const auto& [worker, amount] : by_worker) {
        if (amount == elements) continue;
        Problem("{} of bucket {} in step {}: {} has {} of {} elements", ChunkPhaseName(phase),
                bucket, step, NameOf(worker, workers_), amount, elements);
      }
      return;
    }
    std::uint64_t sum = 0;
    for (const auto& [worker, amount] : by_worker) sum += amount;
    const std::uint64_t expected = elements * static_cast<std::uint64_t>(workers_ - 1);
    if (sum == expected) return;
    Problem("{} of bucket {} in step {}: {} elements cross the ring, and {} must",
            ChunkPhaseName(phase), bucket, step, sum, expected);
  }

  void CheckVersions() {
    std::map<std::pair<int, int>, std::int64_t> versions;
    for (const ParameterUpdate& update : run_.traffic.updates) {
      const auto [at, first] = versions.try_emplace({update.node, update.piece}, update.version);
      // Steps that the timeline does not show leave a gap.
      const bool follows =
          all_steps_ ? update.version == at->second + 1 : update.version > at->second;
      if (!first && !follows) {
        Problem("{}: piece {} has version {} after version {}", NameOf(update.node, workers_),
                update.piece, update.version, at->second);
      }
      at->second = update.version;
    }
  }

  /// Servers that wait for all workers update when the last push has come.
  void CheckLast() {
    const json strategy = run_.chunks.head.value("strategy", json());
    if (!whole_ || (strategy != "ps-sync" && strategy != "mixed")) return;
    std::map<std::tuple<int, int, std::int64_t>, const Transfer*> last;
    for (const Transfer& push : run_.traffic.transfers) {
      if (push.phase != ChunkPhase::kPush) continue;
      const Transfer*& latest = last[{push.to, push.piece, push.step}];
      if (latest == nullptr || push.arrived > latest->arrived) latest = &push;
    }
    for (const ParameterUpdate& update : run_.traffic.updates) {
      const auto found = last.find({update.node, update.piece, update.step});
      if (found == last.end()) {
        Problem("{} updates piece {} in step {} without a push", NameOf(update.node, workers_),
                update.piece, update.step);
      } else if (update.last != found->second->from || update.begin < found->second->arrived) {
        Problem("{}: it is the last push, but {} updates at {} ns for {}", Name(*found->second),
                NameOf(update.node, workers_), update.begin, NameOf(update.last, workers_));
      }
    }
  }

  void CheckSummary() {
    std::set<std::int64_t> steps;
    double bytes = 0;
    for (const Transfer& transfer : run_.traffic.transfers) {
      if (transfer.from >= workers_ || transfer.begin < 0) continue;
      steps.insert(transfer.step);
      bytes += static_cast<double>(transfer.bytes_sent);
    }
    out_.steps = static_cast<double>(steps.size());
    if (steps.empty()) return;
    out_.sent_per_worker_per_step = bytes / out_.steps / workers_;
    const auto told = run_.summary.find("payload_bytes_sent_per_worker");
    if (!whole_ || !all_steps_ || told == run_.summary.end() || !told->is_number()) return;
    const auto expected = told->get<double>();
    if (std::abs(bytes / workers_ - expected) <= 0.01 * expected) return;
    Problem("a worker sent {:.0f} bytes, and the summary says {:.0f}", bytes / workers_, expected);
  }

  const RecordedRun& run_;
  const int workers_;
  bool ring_ = false;
  bool whole_ = false;      // nothing is missing
  bool all_steps_ = false;  // of all steps that were recorded
  std::vector<std::uint64_t> elements_;
  std::map<BucketStep, Interval> spans_;
  RecordCheck out_;
};

}  // namespace

RecordCheck CheckRecord(const RecordedRun& run) { return Checker(run).Check(); }

}  // namespace ringside
