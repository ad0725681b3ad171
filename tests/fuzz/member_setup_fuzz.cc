// The message by which the launcher starts a worker or a server.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ringside/experiments/job/processes/member_setup.h"
#include "ringside/experiments/spec/catalog.h"
#include "tests/experiments/test_catalog.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"

namespace ringside {

std::vector<std::string> FuzzSeeds() {
  MemberSetup setup;
  setup.coordinator = "127.0.0.1:4711";
  setup.token = std::string(64, 'a');
  setup.spec = RunSpec(TestCatalog());
  MemberSetup bench = setup;
  bench.bench = BenchPlan{.sizes = {4, 1024}, .warmup = 3};
  return {setup.ToJson(), bench.ToJson()};
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const std::string text = FuzzInput(data, size).Rest();
  std::string written;
  DropRefusals([&] { written = MemberSetup::FromJson(text, TestCatalog()).ToJson(); });
  // What was read can be written and read again.
  if (!written.empty()) static_cast<void>(MemberSetup::FromJson(written, TestCatalog()));
  return 0;
}
