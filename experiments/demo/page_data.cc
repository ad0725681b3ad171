#include "ringside/experiments/demo/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "ringside/experiments/demo/page_columns.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

using nlohmann::json;

json FactOf(const json& summary, const char* key) {
  const auto found = summary.find(key);
  return found == summary.end() ? json() : *found;
}

json StepFact(const json& summary, const char* key) {
  const json times = FactOf(summary, "step_ms");
  return times.is_object() ? FactOf(times, key) : json();
}

std::string TextFact(const json& summary, const char* key) {
  const json value = FactOf(summary, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// Where each bucket begins in the flat vectors, as far as transfers tell.
std::map<int, std::uint64_t> BucketBegins(const RecordedRun& run) {
  std::map<int, std::uint64_t> begins;
  for (const ChunkTransfer& transfer : run.traffic.transfers) {
    if (transfer.bucket < 0 || !transfer.offset) continue;
    const auto [at, added] = begins.try_emplace(transfer.bucket, *transfer.offset);
    at->second = std::min(at->second, *transfer.offset);
  }
  return begins;
}

/// Columns of a table, filled row by row.
class Columns {
 public:
  explicit Columns(std::vector<const char*> names)
      : names_(std::move(names)), values_(names_.size()) {}

  void Add(const std::vector<std::int64_t>& row) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i].push_back(row[i]);
  }
  json Json() const {
    json table = {{"count", values_.front().size()}};
    for (std::size_t i = 0; i < names_.size(); ++i) table[names_[i]] = PageColumn(values_[i]);
    return table;
  }

 private:
  std::vector<const char*> names_;
  std::vector<std::vector<std::int64_t>> values_;
};

class RunWriter {
 public:
  RunWriter(const RecordedRun& run, const PageWindow& window)
      : run_(run), window_(window), begins_(BucketBegins(run)) {
    for (const ChunkFile::Row& row : run.chunks.rows) {
      if (row.chunk.server < 0) continue;
      servers_of_processes_[row.process] = row.chunk.server;
      processes_of_servers_[row.chunk.server] = row.process;
    }
  }

  json Json() const {
    json out = Facts();
    out["nodes"] = Nodes();
    out["buckets"] = Buckets();
    out["notes"] = run_.notes;
    out["window"] = Window();
    out["steps"] = Steps();
    out["span_kinds"] = Names(kLastSpanKind, SpanName);
    out["lanes"] = Lanes();
    out["phases"] = Names(kLastChunkPhase, ChunkPhaseName);
    out["spans"] = Spans();
    out["transfers"] = Transfers();
    out["updates"] = Updates();
    return out;
  }

 private:
  int Workers() const { return run_.workers(); }

  std::int64_t Time(std::int64_t nanoseconds) const {
    return nanoseconds < 0 ? -1 : (nanoseconds - window_.begin) / 1000;
  }
  /// -1 means unknown, and events may begin before the window.
  std::int64_t KnownTime(std::int64_t nanoseconds) const {
    return nanoseconds < 0 ? -1 : std::max<std::int64_t>(0, Time(nanoseconds));
  }
  std::int64_t OffsetIn(int bucket, const std::optional<std::uint64_t>& offset) const {
    const auto begin = begins_.find(bucket);
    if (!offset || begin == begins_.end()) return -1;
    return static_cast<std::int64_t>(*offset - begin->second);
  }

  json Facts() const {
    const json& summary = run_.summary;
    const json rate = FactOf(summary, "link_bits_per_s");
    const json network = FactOf(summary, "network");
    const bool colocated = FactOf(summary, "colocated") == true;
    json out = {{"title", TextFact(summary, "strategy")},
                {"id", TextFact(summary, "run_id")},
                {"strategy", TextFact(summary, "strategy")},
                {"family", FamilyFact()},
                {"topology", Topology()},
                {"model", ModelText()},
                {"parameters", FactOf(summary, "parameters")},
                {"workers", Workers()},
                {"servers", run_.servers()},
                {"servers_in_workers", colocated},
                {"network", NetworkText()},
                {"emulated", network.is_string()},
                {"link_bytes_per_s", rate.is_number() ? json(rate.get<double>() / 8) : json()},
                {"step_ms", StepFact(summary, "median")},
                {"bound_ms", FactOf(summary, "bound_ms")},
                {"achievable_ms", FactOf(summary, "achievable_ms")},
                {"status", StatusFact()}};
    const json dilation = FactOf(summary, "dilation");
    out["dilation"] = dilation.is_object() ? dilation.value("factor", json(1)) : json(1);
    const json low = StepFact(summary, "p10");
    const json high = StepFact(summary, "p90");
    out["step_interval_ms"] = low.is_null() || high.is_null() ? json() : json{low, high};
    out["bound_resource"] = BoundResource();
    return out;
  }

  json FamilyFact() const {
    const std::string family = TextFact(run_.summary, "family");
    return family.empty() ? json("none") : json(family);
  }

  /// "ok", or how the run ended.
  std::string StatusFact() const {
    const std::string status = TextFact(run_.summary, "status");
    return status == kStatusDone ? "ok" : status;
  }

  /// What limits the bound: the network or the compute.
  json BoundResource() const {
    const json bound = FactOf(run_.summary, "bound_ms");
    const json comm = FactOf(run_.summary, "bound_comm_ms");
    if (!bound.is_number() || !comm.is_number()) return json();
    return comm.get<double>() >= bound.get<double>() ? "network" : "compute";
  }

  std::string Topology() const {
    if (run_.servers() > 0) return "star";
    std::string strategy = TextFact(run_.summary, "strategy");
    if (strategy == "ring" || strategy == "tree") return strategy;
    if (strategy.ends_with("-doubling")) return "pairs";
    return strategy == "shm" ? "host" : "all-reduce";
  }

  std::string ModelText() const {
    const json parameters = FactOf(run_.summary, "parameters");
    std::string model = TextFact(run_.summary, "model");
    if (!parameters.is_number_integer()) return model;
    return fmt::format("{} ({} parameters)", model, FormatCount(parameters.get<std::int64_t>()));
  }

  std::string NetworkText() const {
    const std::string network = TextFact(run_.summary, "network");
    if (network.empty()) return "this machine's loopback: links are not emulated";
    return "emulated hosts: " + network;
  }

  json Nodes() const {
    json nodes = json::array();
    for (int rank = 0; rank < Workers(); ++rank) {
      nodes.push_back(Node("worker", rank, rank));
    }
    for (int server = 0; server < run_.servers(); ++server) {
      nodes.push_back(Node("server", server, ProcessOf(server)));
    }
    return nodes;
  }

  json Node(const char* kind, int index, int process) const {
    const auto& processes = run_.chunks.processes;
    const auto at = static_cast<std::size_t>(process);
    const bool known = at < processes.size() && !processes[at].host.empty();
    return {{"name", fmt::format("{} {}", kind, index)},
            {"kind", kind},
            {"host", known ? processes[at].host : fmt::format("host {}", process)}};
  }

  /// The process that a server is in: the one that recorded its events.
  int ProcessOf(int server) const {
    const auto found = processes_of_servers_.find(server);
    if (found != processes_of_servers_.end()) return found->second;
    const json dedicated = FactOf(run_.chunks.head, "dedicated_servers");
    const int inside = run_.servers() - (dedicated.is_number_integer() ? dedicated.get<int>() : 0);
    return server < inside ? server : Workers() + server - inside;
  }

  json Buckets() const {
    const json elements = FactOf(run_.chunks.head, "bucket_elements");
    return elements.is_array() ? elements : json::array();
  }

  json Window() const {
    const bool empty = window_.steps.empty();
    return {{"first_step", empty ? json() : json(window_.steps.front().step)},
            {"last_step", empty ? json() : json(window_.steps.back().step)},
            {"begin_us", 0},
            {"end_us", Time(window_.end)}};
  }

  json Steps() const {
    json steps = json::array();
    for (const PageWindow::Step& step : window_.steps) {
      steps.push_back(
          {{"step", step.step}, {"begin_us", Time(step.begin)}, {"end_us", Time(step.end)}});
    }
    return steps;
  }

  template <typename Value>
  static json Names(Value last, const char* (*name)(Value)) {
    json names = json::array();
    for (int i = 0; i <= static_cast<int>(last); ++i) names.push_back(name(static_cast<Value>(i)));
    return names;
  }

  static json Lanes() {
    json lanes = json::array();
    for (int lane = 0; lane < kTimelineLanes; ++lane) lanes.push_back(LaneName(lane));
    return lanes;
  }

  /// The node that a lane belongs to: a server inside of a worker is a node of its own.
  std::int64_t NodeOf(const RecordedSpan& span) const {
    const bool serves = span.lane == kServerLane || span.lane == kServerQueueLane;
    if (!serves) return span.process;
    const auto found = servers_of_processes_.find(span.process);
    if (found != servers_of_processes_.end()) return Workers() + found->second;
    return span.process;
  }

  json Spans() const {
    Columns columns({"node", "lane", "kind", "step", "bucket", "begin", "end"});
    for (const RecordedSpan& span : run_.spans) {
      if (!window_.Contains(span.begin, span.end)) continue;
      columns.Add({NodeOf(span), span.lane, static_cast<int>(span.kind), span.step, span.bucket,
                   KnownTime(span.begin), KnownTime(span.end)});
    }
    return columns.Json();
  }

  json Transfers() const {
    Columns columns({"from", "to", "phase", "step", "bucket", "offset", "elements", "bytes",
                     "begin", "sent", "asked", "arrived", "version", "staleness"});
    for (const ChunkTransfer& transfer : run_.traffic.transfers) {
      if (!window_.Contains(transfer.first(), transfer.last())) continue;
      columns.Add({transfer.from, transfer.to, static_cast<int>(transfer.phase), transfer.step,
                   transfer.bucket, OffsetIn(transfer.bucket, transfer.offset),
                   static_cast<std::int64_t>(transfer.elements),
                   static_cast<std::int64_t>(transfer.bytes()), KnownTime(transfer.begin),
                   KnownTime(transfer.sent), KnownTime(transfer.asked), KnownTime(transfer.arrived),
                   transfer.version, transfer.staleness});
    }
    return columns.Json();
  }

  /// Updates of servers, and of workers where rings end with the optimizer.
  json Updates() const {
    Columns columns(
        {"node", "step", "bucket", "offset", "elements", "version", "last", "begin", "end"});
    for (const ParameterUpdate& update : AllUpdates()) {
      columns.Add({update.node, update.step, update.bucket, OffsetIn(update.bucket, update.offset),
                   static_cast<std::int64_t>(update.elements), update.version, update.last,
                   KnownTime(update.begin), KnownTime(update.end)});
    }
    return columns.Json();
  }

  std::vector<ParameterUpdate> AllUpdates() const {
    std::vector<ParameterUpdate> updates;
    for (const ParameterUpdate& update : run_.traffic.updates) {
      if (window_.Contains(update.begin, update.end)) updates.push_back(update);
    }
    for (const RecordedSpan& span : run_.spans) {
      if (run_.servers() > 0 || span.kind != SpanKind::kApply) continue;
      if (window_.Contains(span.begin, span.end)) updates.push_back(UpdateOf(span));
    }
    std::ranges::stable_sort(updates, {}, &ParameterUpdate::begin);
    return updates;
  }

  /// The optimizer of a worker makes version s + 1 of the gradients of step s.
  ParameterUpdate UpdateOf(const RecordedSpan& span) const {
    const json buckets = Buckets();
    const auto bucket = static_cast<std::size_t>(std::max(span.bucket, 0));
    ParameterUpdate update;
    update.node = span.process;
    update.step = span.step;
    update.bucket = span.bucket;
    if (const auto begin = begins_.find(span.bucket); begin != begins_.end()) {
      update.offset = begin->second;
    }
    if (bucket < buckets.size() && buckets[bucket].is_number_integer()) {
      update.elements = buckets[bucket].get<std::uint64_t>();
    }
    update.version = span.step + 1;
    update.begin = span.begin;
    update.end = span.end;
    return update;
  }

  const RecordedRun& run_;
  const PageWindow& window_;
  const std::map<int, std::uint64_t> begins_;
  std::map<int, int> servers_of_processes_;
  std::map<int, int> processes_of_servers_;
};

}  // namespace

json PageRun(const RecordedRun& run, const PageWindow& window) {
  return RunWriter(run, window).Json();
}

}  // namespace ringside
