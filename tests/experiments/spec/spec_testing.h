#ifndef RINGSIDE_TESTS_EXPERIMENTS_SPEC_SPEC_TESTING_H_
#define RINGSIDE_TESTS_EXPERIMENTS_SPEC_SPEC_TESTING_H_

#include <string>
#include <vector>

#include "ringside/experiments/spec/spec_keys.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {

/// A spec that needs no libtorch.
inline RunSpec ProfileOfTenSteps() {
  RunSpec spec(TestCatalog());
  spec.model = "profile:resnet50";
  spec.steps = 10;
  return spec;
}

/// A key of a spec and its value as a user writes it.
struct SpecChange {
  std::string key;
  std::string text;
};

inline RunSpec With(RunSpec spec, const std::vector<SpecChange>& changes) {
  for (const SpecChange& change : changes) SetSpecKey(spec, change.key, change.text);
  return spec;
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_SPEC_SPEC_TESTING_H_
