#include "ringside/experiments/job/coordinator/grpc_lifetime.h"

#include <grpc/grpc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace ringside {

void KeepGrpcInitialized() {
  [[maybe_unused]] static const bool kept = [] {
    grpc_init();
    return true;
  }();
}

void ExitWithoutDestructors() {
  const auto leave = [](int status, void*) {
    std::cout.flush();
    std::fflush(nullptr);
    ::_exit(status);
  };
  // It fails only without memory. Then the destructors run, which is no worse than not to try.
  static_cast<void>(::on_exit(leave, nullptr));
}

}  // namespace ringside
