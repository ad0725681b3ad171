#ifndef RINGSIDE_TESTS_PARAMSERVER_SERVER_FAKES_H_
#define RINGSIDE_TESTS_PARAMSERVER_SERVER_FAKES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/server/pending_reply.h"
#include "ringside/paramserver/wire/payload.h"
#include "ringside/paramserver/wire/payload_pool.h"
#include "ringside/paramserver/wire/refusal.h"

namespace ringside {

/// Keeps what it was answered.
class FakeReply : public PendingReply {
 public:
  void Send(ParameterReply answer) override {
    ++sent;
    version = answer.version;
    first_parameter = answer.parameters.values()[0];
  }
  void Refuse(const Refusal& with) override { refusal = with; }

  int sent = 0;
  std::int64_t version = 0;
  float first_parameter = 0;
  std::optional<Refusal> refusal;
};

/// Arrives well and cannot be read.
class UnreadablePayload : public Payload {
 public:
  std::span<const Piece> pieces() const override { throw InternalError("out of memory"); }
};

/// The gradient of two parameters.
inline PayloadPtr Ones() { return std::make_unique<OwnedPayload>(std::vector<float>{1, 1}); }

}  // namespace ringside

#endif  // RINGSIDE_TESTS_PARAMSERVER_SERVER_FAKES_H_
