#ifndef RINGSIDE_TESTS_EXPERIMENTS_TEST_CATALOG_H_
#define RINGSIDE_TESTS_EXPERIMENTS_TEST_CATALOG_H_

#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// A catalog with only the built-in entries.
inline const Catalog& TestCatalog() {
  static const Catalog catalog;
  return catalog;
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_TEST_CATALOG_H_
