// The record of a run, up to the page made of it: a bundle may come from anybody.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "ringside/experiments/demo/demo_page.h"
#include "ringside/experiments/demo/page_data.h"
#include "ringside/experiments/demo/record_check.h"
#include "ringside/experiments/system/files/sha256.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"

namespace ringside {
namespace {

constexpr char kHead[] =
    R"({"format":2,"strategy":"ring","status":"done","steps":"all","workers":2,"servers":1,)"
    R"("dedicated_servers":1,"bucket_elements":[8],)"
    R"("processes":[{"name":"a","dropped":0},{"name":"b"},{"name":"c"}]})"
    "\n";
constexpr char kTrace[] =
    R"({"traceEvents":[{"ph":"X","name":"wire","pid":0,"tid":1000,"ts":0.5,"dur":9,)"
    R"("args":{"step":0,"bucket":0}},{"ph":"X","name":"forward","pid":1,"tid":0,"ts":0,"dur":2,)"
    R"("args":{"step":0}}]})";

void MakePage(const std::string& chunks, const std::string& trace, const std::string& summary) {
  RecordedRun run;
  run.chunks = ParseChunkFile(chunks, "chunks.jsonl");
  run.traffic = JoinTraffic(run.chunks, run.workers());
  run.summary = nlohmann::json::parse(summary, nullptr, false);
  if (!run.summary.is_object()) run.summary = nlohmann::json::object();
  if (!trace.empty()) run.spans = ParseTraceSpans(trace, "trace.json");
  CheckRecord(run);
  RenderDemoPage({PageRun(run, ChooseWindow(run, {}))}, "ringside demo");
}

}  // namespace

// The record of chunks, the trace, the summary.
std::vector<std::string> FuzzSeeds() {
  const std::string rows =
      "[0,-1,\"send\",\"reduce-scatter\",1,0,0,-1,0,4,16,100,200,-1,-1]\n"
      "[1,-1,\"receive\",\"reduce-scatter\",0,0,0,-1,0,4,16,100,300,-1,-1]\n"
      "[2,0,\"update\",\"push\",1,0,0,0,null,8,0,250,300,1,-1]\n";
  const std::string summary = R"({"warmup_steps":0,"link_bits_per_s":1e8,"step_ms":{"median":1}})";
  const std::string end = "{\"chunks\":3,\"sha256\":\"" +
                          Sha256Hex(std::as_bytes(std::span<const char>(kHead + rows))) + "\"}\n";
  return {Chunk(kHead + rows + end) + Chunk(kTrace) + Chunk(summary),
          Chunk(kHead + rows) + Chunk("") + Chunk("")};
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  FuzzInput input(data, size);
  const std::string chunks = input.NextChunk();
  const std::string trace = input.NextChunk();
  const std::string summary = input.NextChunk();
  DropRefusals([&] { MakePage(chunks, trace, summary); });
  return 0;
}
