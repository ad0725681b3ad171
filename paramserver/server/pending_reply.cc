#include "ringside/paramserver/server/pending_reply.h"

#include <utility>

namespace ringside {

void AnswerQueue::Add(PendingReply& reply, ParameterReply answer) {
  reply.answer_ = std::move(answer);
  reply.next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = &reply;
  last_ = &reply;
}

void AnswerQueue::SendAll() {
  last_ = nullptr;
  while (first_ != nullptr) {
    PendingReply& reply = *std::exchange(first_, first_->next_);
    reply.Send(std::move(reply.answer_));
  }
}

}  // namespace ringside
