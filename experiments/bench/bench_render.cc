#include "ringside/experiments/bench/bench_render.h"

#include <fmt/format.h>

#include <algorithm>

#include "ringside/experiments/bench/bench_fidelity.h"
#include "ringside/experiments/job/core/job_outcome.h"
#include "ringside/experiments/report/render/text_table.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

using nlohmann::json;

std::string ServersText(const BenchCandidate& contender) {
  if (contender.transport.empty()) return "-";
  if (contender.colocated) return fmt::format("colocated:{}", contender.servers);
  return std::to_string(contender.servers);
}

std::string WarmupText(const BenchSetting& setting) {
  if (!setting.plan.warmup) return "as many as it takes until times are steady (MSER-5)";
  return fmt::format("{}", *setting.plan.warmup);
}

std::string Definitions(const BenchSetting& setting) {
  return fmt::format(
      "# N = {} workers, vectors of floats in {} memory, summed in place; {} timed operations of "
      "each size in "
      "each of {} rounds\n"
      "# warm-up: untimed operations before those: {}; the longest of the rounds\n"
      "# time, p99: median and 99th percentile over operations, each as long as its slowest "
      "worker\n"
      "# algbw = size / time\n"
      "# busbw: all-reduce: algbw x 2(N-1)/N, what each worker must send at least;\n"
      "#        servers: the bytes of a push and pull that pass the busiest NIC in one direction, /"
      " time\n"
      "# under a codec: bandwidths are of the encoded bytes; the vectors are not zeros\n"
      "# #wrong: elements that differ from the exact sum of known integers; N/A: not compared\n",
      setting.workers, setting.plan.on_device ? "GPU" : "host", setting.plan.iterations,
      setting.rounds, WarmupText(setting));
}

std::string NameText(const BenchCandidate& contender, const BenchRow& row) {
  return contender.name + (row.best_peer ? " *" : "");
}

TextTable MakeTable() {
  using Align = TextTable::Align;
  return TextTable({{"strategy", Align::kLeft},
                    {"servers"},
                    {"size"},
                    {"count"},
                    {"type"},
                    {"redop"},
                    {"time\nus"},
                    {"p99\nus"},
                    {"algbw\nGB/s"},
                    {"busbw\nGB/s"},
                    {"#wrong"},
                    {"warm-up\nops"},
                    {"warm-up\nms"}});
}

bool IsCopy(const BenchCandidate& contender) { return contender.kind == BenchKind::kMemoryCopy; }

/// The factor of the run's clock; 1 without an emulated network.
double DilationOf(const json& network) {
  return network.is_object() ? network.value("dilation", 1.0) : 1;
}

bool NeverSettled(const BenchRow& row) { return row.warmup.steady == false; }

void AddRow(const BenchCandidate& contender, const BenchRow& row, TextTable& table) {
  table.AddRow({NameText(contender, row), ServersText(contender),
                FormatBytes(static_cast<double>(row.size)), std::to_string(row.size / 4), "float",
                IsCopy(contender) ? "-" : "sum", fmt::format("{:.1f}", row.time_us),
                fmt::format("{:.1f}", row.p99_us), fmt::format("{:.3f}", row.algorithm_gb_per_s),
                IsCopy(contender) ? "-" : fmt::format("{:.3f}", row.bus_gb_per_s),
                row.wrong ? std::to_string(*row.wrong) : "N/A",
                std::to_string(row.warmup.operations),
                fmt::format("{:.0f}{}", row.warmup.ms, NeverSettled(row) ? " !" : "")});
  if (!row.notes.empty()) table.AddNote("    " + row.notes.back());
}

json RowJson(const BenchSetting& setting, const BenchRow& row) {
  const BenchCandidate& contender = setting.contenders[row.contender];
  return {{"strategy", contender.name},
          {"workers", setting.workers},
          {"size", row.size},
          {"time_us", row.time_us},
          {"p99_us", row.p99_us},
          {"algbw_GBps", row.algorithm_gb_per_s},
          {"busbw_GBps", IsCopy(contender) ? json() : json(row.bus_gb_per_s)},
          {"wrong", row.wrong ? json(*row.wrong) : json()},
          {"count", row.size / 4},
          {"type", "float"},
          {"redop", IsCopy(contender) ? json() : json("sum")},
          {"round_us", row.round_us},
          {"servers", contender.servers},
          {"colocated", contender.colocated},
          {"transport", contender.transport.empty() ? json() : json(contender.transport)},
          {"codec", contender.codec.empty() ? json() : json(contender.codec)},
          {"warmup_operations", row.warmup.operations},
          {"warmup_ms", row.warmup.ms},
          {"steady", row.warmup.steady ? json(*row.warmup.steady) : json()},
          {"notes", row.notes},
          {"peer", contender.kind != BenchKind::kStrategy},
          {"best", row.best_peer}};
}

}  // namespace

std::string RenderBench(const BenchSetting& setting, const BenchResult& result) {
  std::string out = Definitions(setting);
  TextTable table = MakeTable();
  bool best = false;
  bool copied = false;
  for (const BenchRow& row : result.rows) {
    AddRow(setting.contenders[row.contender], row, table);
    best = best || row.best_peer;
    copied = copied || IsCopy(setting.contenders[row.contender]);
  }
  out += table.Render();
  if (std::ranges::any_of(result.rows, NeverSettled)) {
    out += "! the warm-up reached its limit of 2 s before the times were known to be steady\n";
  }
  if (const double dilation = DilationOf(result.network); dilation > 1) {
    out += fmt::format("times are dilated: the machine took {:g} times as long\n", dilation);
  }
  if (best) out += "* the fastest of bare Gloo's algorithms at this size\n";
  if (copied) {
    out += fmt::format("{}: every worker copies a vector of this size of its own, all at once\n",
                       kMemoryCopy);
  }
  out += BenchFidelityText(WorstFidelity(result.fidelity));
  for (const BenchSkipped& skipped : setting.skipped) {
    out += fmt::format("{}: skipped, {}\n", skipped.name, skipped.reason);
  }
  return out;
}

json BenchJson(const BenchSetting& setting, const BenchResult& result) {
  json rows = json::array();
  for (const BenchRow& row : result.rows) rows.push_back(RowJson(setting, row));
  json skipped = json::array();
  for (const BenchSkipped& each : setting.skipped) {
    skipped.push_back({{"strategy", each.name}, {"reason", each.reason}});
  }
  const JobOutcome& outcome = result.outcome;
  return {{"schema", "ringside.bench/1"},
          {"rows", rows},
          {"skipped", skipped},
          {"rounds", setting.rounds},
          {"warmup", setting.plan.warmup ? json(*setting.plan.warmup) : json()},
          {"iterations", setting.plan.iterations},
          {"memory", setting.plan.on_device ? "device" : "host"},
          {"network", result.network},
          {"fidelity", WorstFidelity(result.fidelity)},
          {"status", JobStatusName(outcome.status)},
          {"error", outcome.error.empty() ? json() : json(outcome.error)}};
}

}  // namespace ringside
