#include "ringside/experiments/job/coordinator/grpc_lifetime.h"

#include <grpc/grpc.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

namespace ringside {

void KeepGrpcInitialized() {
  [[maybe_unused]] static const bool kept = [] {
    grpc_init();
    // It holds the event engine, which has the same defect. It never connects, and is never freed.
    static const auto* const engine_holder = new std::shared_ptr<grpc::Channel>(
        grpc::CreateChannel("unix:/", grpc::InsecureChannelCredentials()));
    return engine_holder != nullptr;
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
