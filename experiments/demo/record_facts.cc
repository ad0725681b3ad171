#include "ringside/experiments/demo/record_facts.h"

#include <fmt/format.h>

namespace ringside {
namespace {

using nlohmann::json;

bool LostWorkers(const json& summary) {
  const auto lost = summary.find("lost_workers");
  return lost != summary.end() && !lost->empty();
}

}  // namespace

RecordFacts::RecordFacts(const RecordedRun& run) : workers(run.workers()), servers(run.servers()) {
  const json& head = run.chunks.head;
  if (const json name = head.value("strategy", json()); name.is_string()) {
    strategy = name.get<std::string>();
  }
  ring = strategy == "ring";
  sums_at_pauses = strategy == "local-sgd" || strategy == "diloco";
  hides_chunks = strategy == "mpi" || strategy == "nccl";
  updates_by_step = strategy == "ps-sync" || strategy == "mixed" || strategy == "ps-backup";
  plain = run.summary.value("codec", json("fp32")) == "fp32";
  for (const ChunkFile::Process& process : run.chunks.processes) {
    one_host = one_host && process.host == run.chunks.processes.front().host;
  }
  all_steps = head.value("steps", json()) == "all";
  whole = run.chunks.complete && run.chunks.dropped == 0 &&
          head.value("status", json()) == kStatusDone && !LostWorkers(run.summary);
  const json elements = head.value("bucket_elements", json());
  if (!elements.is_array()) return;
  std::uint64_t offset = 0;
  for (const json& count : elements) {
    elements_.push_back(count.is_number_integer() && count >= 0 ? count.get<std::uint64_t>() : 0);
    offsets_.push_back(offset);
    offset += elements_.back();
  }
}

std::optional<std::uint64_t> RecordFacts::ElementsOf(int bucket) const {
  if (bucket < 0 || bucket >= static_cast<int>(elements_.size())) return std::nullopt;
  return elements_[static_cast<std::size_t>(bucket)];
}

void RecordProblems::Add(std::string problem) {
  if (problems_.size() == most_) {
    ++further_;
  } else {
    problems_.push_back(std::move(problem));
  }
}

std::string NodeName(int node, int workers) {
  return node < workers ? fmt::format("worker {}", node) : fmt::format("server {}", node - workers);
}

std::string RowName(const ChunkFile::Row& row) {
  const TraceChunk& chunk = row.chunk;
  const std::string who = chunk.server >= 0 ? fmt::format("server {}", chunk.server)
                                            : fmt::format("worker {}", row.process);
  const std::string piece = chunk.piece >= 0 ? fmt::format(", piece {}", chunk.piece) : "";
  return fmt::format("{}, {}, {} of bucket {}{} in step {}", who, ChunkActionName(chunk.action),
                     ChunkPhaseName(chunk.phase), chunk.bucket, piece, chunk.step);
}

}  // namespace ringside
