#ifndef RINGSIDE_TESTS_COMMON_FEW_DESCRIPTORS_H_
#define RINGSIDE_TESTS_COMMON_FEW_DESCRIPTORS_H_

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "ringside/common/base/file_descriptor.h"

namespace ringside {

/// Lets this process open only `more` further descriptors, during its lifetime.
class FewDescriptors {
 public:
  explicit FewDescriptors(int more) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const FileDescriptor next(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(next.get()) + static_cast<rlim_t>(more);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewDescriptors() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_FEW_DESCRIPTORS_H_
