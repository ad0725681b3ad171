#ifndef RINGSIDE_TESTS_EXPERIMENTS_TEST_CATALOG_H_
#define RINGSIDE_TESTS_EXPERIMENTS_TEST_CATALOG_H_

#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/run_spec.h"

#ifdef RINGSIDE_GRADED_STRATEGY
#include RINGSIDE_GRADED_STRATEGY
#endif

namespace ringside {

#ifdef RINGSIDE_GRADED_STRATEGY
/// A catalog with a strategy that is graded, besides the built-in entries (tests/grading).
inline const Catalog& TestCatalog() {
  static const Catalog catalog({.strategies = {OwnStrategy()}});
  return catalog;
}
#else
/// A catalog with only the built-in entries.
inline const Catalog& TestCatalog() {
  static const Catalog catalog;
  return catalog;
}
#endif

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_TEST_CATALOG_H_
