#include "ringside/paramserver/wire/refusal_message.h"

namespace ringside {

Refused ToMessage(const Refusal& refusal, std::size_t max_text) {
  Refused message;
  message.set_message(refusal.message.substr(0, max_text));
  message.set_culprit(refusal.culprit.substr(0, max_text));
  message.set_diverged(refusal.code == RefusalCode::kDiverged);
  return message;
}

Refusal FromMessage(const Refused& message) {
  return {message.diverged() ? RefusalCode::kDiverged : RefusalCode::kAborted, message.message(),
          message.culprit()};
}

}  // namespace ringside
