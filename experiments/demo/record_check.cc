#include "ringside/experiments/demo/record_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "ringside/experiments/demo/column_check.h"
#include "ringside/experiments/demo/order_check.h"
#include "ringside/experiments/demo/record_facts.h"

namespace ringside {
namespace {

using nlohmann::json;

class Checker {
 public:
  explicit Checker(const RecordedRun& run)
      : run_(run),
        facts_(run),
        workers_(facts_.workers),
        ring_(facts_.ring),
        whole_(facts_.whole),
        all_steps_(facts_.all_steps) {
    out_.nodes.resize(static_cast<std::size_t>(workers_) + static_cast<std::size_t>(run.servers()));
    out_.last_ns.assign(out_.nodes.size(), -1);
    out_.sent_by_worker.assign(static_cast<std::size_t>(workers_), 0);
  }

  RecordCheck Check() {
    if (run_.chunks.changed) {
      Problem("the record was changed after it was written: its checksum is another one");
    }
    if (!run_.chunks.complete)
      Problem("the record has no end: it was cut off after it was written");
    CheckColumns(run_, facts_, problems_);
    CheckOrder(run_, facts_, problems_);
    for (const ChunkTransfer& transfer : run_.traffic.transfers) CheckTransfer(transfer);
    FindEnds();
    if (ring_) CheckHops();
    CheckAmounts();
    CheckVersions();
    CheckLast();
    CheckSummary();
    CheckKernel();
    out_.further_problems = problems_.further();
    out_.problems = problems_.Take();
    return std::move(out_);
  }

 private:
  template <typename... Values>
  void Problem(fmt::format_string<Values...> format, Values&&... values) {
    problems_.Add(fmt::format(format, std::forward<Values>(values)...));
  }

  std::string Name(const ChunkTransfer& transfer) const {
    return fmt::format("{} of bucket {} in step {} from {} to {}", ChunkPhaseName(transfer.phase),
                       transfer.bucket, transfer.step, NodeName(transfer.from, workers_),
                       NodeName(transfer.to, workers_));
  }

  bool IsNode(int node) const { return node >= 0 && node < static_cast<int>(out_.nodes.size()); }

  void CheckTransfer(const ChunkTransfer& transfer) {
    if (!IsNode(transfer.from) || !IsNode(transfer.to)) {
      return Problem("{}: the run has no such node", Name(transfer));
    }
    Count(transfer);
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

  void Count(const ChunkTransfer& transfer) {
    if (transfer.begin >= 0) {
      PhaseTraffic& sent = out_.nodes[static_cast<std::size_t>(transfer.from)][transfer.phase];
      ++sent.chunks_sent;
      sent.bytes_sent += transfer.bytes_sent;
      if (transfer.from < workers_ && transfer.phase != ChunkPhase::kSlice) {
        out_.sent_by_worker[static_cast<std::size_t>(transfer.from)] += transfer.bytes_sent;
      }
    }
    if (transfer.arrived >= 0) {
      PhaseTraffic& received = out_.nodes[static_cast<std::size_t>(transfer.to)][transfer.phase];
      ++received.chunks_received;
      received.bytes_received += transfer.bytes_received;
    }
  }

  /// When the last event of each node ends.
  void FindEnds() {
    for (const ChunkFile::Row& row : run_.chunks.rows) {
      const int node = row.chunk.server >= 0 ? workers_ + row.chunk.server : row.process;
      if (!IsNode(node)) continue;
      std::int64_t& last = out_.last_ns[static_cast<std::size_t>(node)];
      last = std::max(last, row.chunk.end);
    }
  }

  /// Each chunk of a ring passes from rank to rank.
  void CheckHops() {
    std::map<std::tuple<std::int64_t, int, ChunkPhase, std::uint64_t>,
             std::vector<const ChunkTransfer*>>
        ways;
    for (const ChunkTransfer& transfer : run_.traffic.transfers) {
      if (transfer.from >= workers_ || transfer.to >= workers_) continue;
      if ((transfer.from + 1) % workers_ != transfer.to) {
        Problem("{}: a ring sends to the next rank alone", Name(transfer));
      }
      if (transfer.begin < 0 || !transfer.offset || transfer.elements == 0) continue;
      ways[{transfer.step, transfer.bucket, transfer.phase, *transfer.offset}].push_back(&transfer);
    }
    for (auto& [key, way] : ways) CheckWay(way);
  }

  void CheckWay(std::vector<const ChunkTransfer*>& way) {
    std::ranges::stable_sort(way, {}, [](const ChunkTransfer* hop) { return hop->begin; });
    for (std::size_t i = 1; i < way.size(); ++i) {
      if (way[i]->from == way[i - 1]->to) continue;
      return Problem("{}: the hop before it ended at {}", Name(*way[i]),
                     NodeName(way[i - 1]->to, workers_));
    }
    if (whole_ && static_cast<int>(way.size()) != workers_ - 1) {
      Problem("{}: the chunk makes {} hops, and a ring of {} ranks has {}", Name(*way.front()),
              way.size(), workers_, workers_ - 1);
    }
  }

  /// In every phase, every worker sends or gets the same part of a bucket.
  void CheckAmounts() {
    std::map<std::tuple<ChunkPhase, std::int64_t, int>, std::map<int, std::uint64_t>> amounts;
    for (const ChunkTransfer& transfer : run_.traffic.transfers) {
      const bool pull = transfer.phase == ChunkPhase::kPull;
      if (!pull && transfer.phase != ChunkPhase::kPush && !ring_) continue;
      const int worker = pull ? transfer.to : transfer.from;
      amounts[{transfer.phase, transfer.step, transfer.bucket}][worker] += transfer.elements;
    }
    for (const auto& [key, by_worker] : amounts) {
      const auto& [phase, step, bucket] = key;
      const bool encoded =
          std::ranges::all_of(by_worker, [](const auto& worker) { return worker.second == 0; });
      const auto elements = facts_.ElementsOf(bucket);
      if (whole_ && !encoded && elements) CheckAmount(phase, step, bucket, *elements, by_worker);
    }
  }

  void CheckAmount(ChunkPhase phase, std::int64_t step, int bucket, std::uint64_t elements,
                   const std::map<int, std::uint64_t>& by_worker) {
    const bool pairs = phase == ChunkPhase::kPush || phase == ChunkPhase::kPull;
    if (pairs) {
      for (const auto& [worker, amount] : by_worker) {
        if (amount == elements) continue;
        Problem("{} of bucket {} in step {}: {} has {} of {} elements", ChunkPhaseName(phase),
                bucket, step, NodeName(worker, workers_), amount, elements);
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
        Problem("{}: piece {} has version {} after version {}", NodeName(update.node, workers_),
                update.piece, update.version, at->second);
      }
      at->second = update.version;
    }
  }

  /// Servers that wait for all workers update when the last push has come.
  void CheckLast() {
    if (!whole_ || (facts_.strategy != "ps-sync" && facts_.strategy != "mixed")) return;
    std::map<std::tuple<int, int, std::int64_t>, const ChunkTransfer*> last;
    for (const ChunkTransfer& push : run_.traffic.transfers) {
      if (push.phase != ChunkPhase::kPush) continue;
      const ChunkTransfer*& latest = last[{push.to, push.piece, push.step}];
      if (latest == nullptr || push.arrived > latest->arrived) latest = &push;
    }
    for (const ParameterUpdate& update : run_.traffic.updates) {
      const auto found = last.find({update.node, update.piece, update.step});
      if (found == last.end()) {
        Problem("{} updates piece {} in step {} without a push", NodeName(update.node, workers_),
                update.piece, update.step);
      } else if (update.last != found->second->from || update.begin < found->second->arrived) {
        Problem("{}: it is the last push, but {} updates at {} ns for {}", Name(*found->second),
                NodeName(update.node, workers_), update.begin, NodeName(update.last, workers_));
      }
    }
  }

  void CheckSummary() {
    std::set<std::int64_t> steps;
    double bytes = 0;
    for (const ChunkTransfer& transfer : run_.traffic.transfers) {
      if (transfer.from >= workers_ || transfer.begin < 0) continue;
      steps.insert(transfer.step);
      bytes += static_cast<double>(transfer.bytes_sent);
    }
    out_.steps = static_cast<double>(steps.size());
    if (!steps.empty()) out_.sent_per_worker_per_step = bytes / out_.steps / workers_;
    if (facts_.hides_chunks) return;
    const auto told = run_.summary.find("payload_bytes_sent_per_worker");
    if (!whole_ || !all_steps_ || told == run_.summary.end() || !told->is_number()) return;
    const auto expected = told->get<double>();
    if (std::abs(bytes / workers_ - expected) <= 0.01 * expected) return;
    Problem("a worker sent {:.0f} bytes, and the summary says {:.0f}", bytes / workers_, expected);
  }

  /// What the kernel sent has the chunks and headers. It is never less than
  /// the chunks, except that it is counted a moment before or after them.
  void CheckKernel() {
    const auto told = run_.summary.find("bytes_sent_by_worker");
    if (told == run_.summary.end() || !told->is_array()) return;
    for (const json& bytes : *told) {
      out_.kernel_sent_by_worker.push_back(bytes.is_number() ? bytes.get<double>() : -1);
    }
    out_.kernel_sent_by_worker.resize(static_cast<std::size_t>(workers_), -1);
    const json transport = run_.summary.value("transport", json());
    const bool by_tcp = transport == "tcp" || transport == "grpc";
    // The kernel does not count connections of a process with itself.
    const bool colocated = run_.summary.value("colocated", json()) == true;
    if (!whole_ || !all_steps_ || !by_tcp || colocated || facts_.sums_at_pauses) return;
    for (std::size_t worker = 0; worker < out_.sent_by_worker.size(); ++worker) {
      const auto sent = static_cast<double>(out_.sent_by_worker[worker]);
      const double counted = out_.kernel_sent_by_worker[worker];
      if (counted < 0 || sent <= 1.01 * counted) continue;
      Problem("worker {} sent {:.0f} bytes, and its kernel counted {:.0f}", worker, sent, counted);
    }
  }

  const RecordedRun& run_;
  const RecordFacts facts_;
  const int workers_;
  const bool ring_;
  const bool whole_;
  const bool all_steps_;
  RecordProblems problems_{RecordCheck::kMostProblems};
  RecordCheck out_;
};

}  // namespace

RecordCheck CheckRecord(const RecordedRun& run) { return Checker(run).Check(); }

}  // namespace ringside
