#include "common/codec_options.h"

#include <gtest/gtest.h>

#include <string>

#include "common/errors.h"

namespace ringside {
namespace {

TEST(CodecOptions, TextRoundTrips) {
  for (const std::string text :
       {"fp32", "fp16", "bf16", "int8", "topk:0.01", "topk:0.66", "powersgd:4", "sign"}) {
    CodecOptions options;
    ParseCodec(text, options);
    EXPECT_EQ(CodecText(options), text);
  }
}

TEST(CodecOptions, KeepsTheErrorFeedbackAndForgetsTheParameterOfAnotherCodec) {
  CodecOptions options{.error_feedback = ErrorFeedback::kOn};
  ParseCodec("topk:0.5", options);
  ParseCodec("sign", options);
  EXPECT_EQ(options.ratio, 0);
  EXPECT_EQ(options.error_feedback, ErrorFeedback::kOn);
}

TEST(CodecOptions, RefusesWhatIsNoCodecAndChangesNothing) {
  CodecOptions options;
  ParseCodec("powersgd:2", options);
  for (const std::string text :
       {"", "fp8", "fp16:2", "topk", "topk:", "topk:0", "topk:-1", "topk:0.67", "topk:1.5",
        "topk:nan", "topk:0.1x", "powersgd", "powersgd:0", "powersgd:1.5", "powersgd:99999"}) {
    EXPECT_THROW(ParseCodec(text, options), ConfigError) << text;
  }
  EXPECT_EQ(CodecText(options), "powersgd:2");
}

}  // namespace
}  // namespace ringside
