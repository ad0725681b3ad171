#include "ringside/paramserver/wire/refusal_message.h"

namespace ringside {

Refused ToMessage(const Refusal& refusal, std::size_t max_text) {
  Refused message;
  message.set_message(refusal.message.substr(0, max_text));
  message.set_culprit(refusal.culprit.substr(0, max_text));
  message.set_diverged(refusal.code == RefusalCode::kDiverged);
  message.set_dropped(refusal.code == RefusalCode::kDropped);
  return message;
}

Refusal FromMessage(const Refused& message) {
  RefusalCode code = RefusalCode::kAborted;
  if (message.dropped()) code = RefusalCode::kDropped;
  if (message.diverged()) code = RefusalCode::kDiverged;
  return {code, message.message(), message.culprit()};
}

}  // namespace ringside
