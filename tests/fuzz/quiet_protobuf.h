#ifndef RINGSIDE_TESTS_FUZZ_QUIET_PROTOBUF_H_
#define RINGSIDE_TESTS_FUZZ_QUIET_PROTOBUF_H_

#include <google/protobuf/stubs/logging.h>

namespace ringside {

/// Protocol Buffers prints a line for each string that is not UTF-8, which takes most of an input's
/// time. The message is refused all the same.
inline void SilenceProtobuf() {
  static google::protobuf::LogHandler* const before = google::protobuf::SetLogHandler(nullptr);
  static_cast<void>(before);
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_FUZZ_QUIET_PROTOBUF_H_
