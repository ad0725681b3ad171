#ifndef RINGSIDE_RING_CORE_OPERATION_H_
#define RINGSIDE_RING_CORE_OPERATION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "ringside/ring/core/bucket_message.h"

namespace ringside {

/// The name of the current operation, for errors. It keeps the parts of the text and joins them
/// only for an error, because sending a small message takes no longer than making a string.
class Operation {
 public:
  /// "all-gather". `verb` is a literal here and below.
  constexpr explicit Operation(std::string_view verb) : verb_(verb) {}
  /// "all-reduce of", bucket 3, step 17.
  constexpr Operation(std::string_view verb, int bucket, std::int64_t step)
      : verb_(verb), object_(Object::kBucket), number_(bucket), step_(step) {}
  Operation(std::string_view verb, const BucketMessage& message)
      : Operation(verb, message.bucket, message.step) {}
  /// "broadcast from", worker 3.
  static constexpr Operation WithWorker(std::string_view verb, int worker) {
    Operation operation(verb);
    operation.object_ = Object::kWorker;
    operation.number_ = worker;
    return operation;
  }

  std::string Text() const;

 private:
  enum class Object { kNone, kBucket, kWorker };

  std::string_view verb_;
  Object object_ = Object::kNone;
  int number_ = 0;  // of the bucket or the worker
  std::int64_t step_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_CORE_OPERATION_H_
