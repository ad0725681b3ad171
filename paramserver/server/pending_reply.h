#ifndef RINGSIDE_PARAMSERVER_SERVER_PENDING_REPLY_H_
#define RINGSIDE_PARAMSERVER_SERVER_PENDING_REPLY_H_

#include <cstdint>
#include <utility>

#include "ringside/paramserver/wire/parameter_buffer.h"
#include "ringside/paramserver/wire/refusal.h"

namespace ringside {

/// Parameters for one worker.
struct ParameterReply {
  ParameterRef parameters;
  std::int64_t version = 0;
  std::int64_t staleness = 0;  ///< Updates applied since the gradient's parameters.
  bool dropped = false;        ///< The gradient came too late to be used.
};

/// A push that has arrived. It must be answered exactly once, now or later. A call of either method
/// may end the life of the object. Neither method throws or blocks.
class PendingReply {
 public:
  virtual ~PendingReply() = default;
  virtual void Send(ParameterReply answer) = 0;
  virtual void Refuse(const Refusal& refusal) = 0;

 private:
  friend class AnswerQueue;
  ParameterReply answer_;
  PendingReply* next_ = nullptr;
};

/// Replies whose answers are known but not yet sent. The replies themselves are the nodes of a
/// linked list, so nothing is allocated.
class AnswerQueue {
 public:
  AnswerQueue() = default;
  AnswerQueue(AnswerQueue&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)), last_(std::exchange(other.last_, nullptr)) {}
  AnswerQueue& operator=(AnswerQueue&& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    return *this;
  }

  void Add(PendingReply& reply, ParameterReply answer);
  /// Sends all answers in the order in which they were added. Each call may end the life of its
  /// reply.
  void SendAll();

 private:
  PendingReply* first_ = nullptr;
  PendingReply* last_ = nullptr;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SERVER_PENDING_REPLY_H_
