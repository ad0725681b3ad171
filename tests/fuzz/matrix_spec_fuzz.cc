// A matrix file, and the plan of its runs.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ringside/experiments/matrix/matrix_plan.h"
#include "ringside/experiments/matrix/matrix_spec.h"
#include "tests/experiments/test_catalog.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"

namespace ringside {
namespace {

/// A matrix may have 100,000 runs. More than these only take time.
constexpr std::size_t kMostRuns = 32;

bool IsSmall(const MatrixSpec& spec) {
  std::size_t runs = 1;
  for (const Axis& axis : spec.axes) {
    runs *= axis.values.size();
    if (runs > kMostRuns) return false;
  }
  return (runs + spec.include.size()) * static_cast<std::size_t>(spec.repetitions) <= kMostRuns;
}

}  // namespace

// All in corpus/matrix_spec.
std::vector<std::string> FuzzSeeds() { return {}; }

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const std::string text = FuzzInput(data, size).Rest();
  DropRefusals([&] {
    const MatrixSpec spec = ParseMatrixSpec(text, "matrix.yaml", TestCatalog());
    if (IsSmall(spec)) static_cast<void>(PlanSupportedRuns(spec));
  });
  return 0;
}
