#include "common/strategy_options.h"

namespace ringside {

std::optional<OptionRefusal> CheckErrorFeedback(const CodecOptions& codec) {
  if (codec.kind != CodecKind::kFp32 || codec.error_feedback != ErrorFeedback::kOn) {
    return std::nullopt;
  }
  return OptionRefusal{"error-feedback",
                       "fp32 loses nothing that could be fed back; name a codec, or leave it at "
                       "auto"};
}

}  // namespace ringside
