// Libraries for backend_library_test.cc, by definition: FAKE_CURRENT fits this build, FAKE_OTHER
// has another version, FAKE_UNVERSIONED names none, as libraries before 0.2.0.
#include <cstdlib>
#include <string>

#include "ringside/ring/backends/backend_library.h"

namespace {

constexpr ringside::CollectiveBackend kBackend{
    .unavailable = [] { return std::string("a fake sums nothing"); }, .make = nullptr};

}  // namespace

#ifndef FAKE_UNVERSIONED
// NOLINTNEXTLINE(readability-identifier-naming): an exported C function
extern "C" const char* ringside_backend_version() {
#ifdef FAKE_CURRENT
  return ringside::BackendVersion();
#else
  return "0.1.9, interface 000000000000";
#endif
}
#endif

extern "C" const ringside::CollectiveBackend* ringside_collective_backend() {
#ifndef FAKE_CURRENT
  std::abort();  // must not be called
#endif
  return &kBackend;
}
