// A configuration file of one run: YAML, its keys and values, and whether they fit together.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringside/experiments/matrix/setting.h"
#include "ringside/experiments/matrix/yaml_positions.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/spec/run_spec.h"
#include "tests/experiments/test_catalog.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"

namespace ringside {

std::vector<std::string> FuzzSeeds() {
  RunSpec spec(TestCatalog());
  spec.global_batch = 64;
  return {nlohmann::json(spec).dump(2)};  // which is YAML, too
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const std::string text = FuzzInput(data, size).Rest();
  DropRefusals([&] {
    const YamlFile file = YamlFile::Parse(text, "run.yaml", TestCatalog());
    RunSpec spec(TestCatalog());
    Apply(spec, ReadSettings(file, file.root(), "the configuration"));
    static_cast<void>(RunId(Resolve(spec)));
  });
  return 0;
}
