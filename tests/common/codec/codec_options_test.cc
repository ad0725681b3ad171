#include "ringside/common/codec/codec_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/codec/codec.h"
#include "ringside/common/codec/codec_table.h"

namespace ringside {
namespace {

TEST(CodecOptions, TextRoundTrips) {
  for (const std::string text :
       {"fp32", "fp16", "bf16", "int8", "topk:0.01", "topk:0.66", "powersgd:4", "sign"}) {
    CodecOptions options;
    ParseCodec(text, BuiltinCodecs(), options);
    EXPECT_EQ(CodecText(options), text);
  }
}

TEST(CodecOptions, KeepsTheErrorFeedbackAndForgetsTheParameterOfAnotherCodec) {
  CodecOptions options{.error_feedback = ErrorFeedback::kOn};
  ParseCodec("topk:0.5", BuiltinCodecs(), options);
  ParseCodec("sign", BuiltinCodecs(), options);
  EXPECT_EQ(options.parameter, 0);
  EXPECT_EQ(options.error_feedback, ErrorFeedback::kOn);
}

TEST(CodecOptions, RefusesWhatIsNoCodecAndChangesNothing) {
  CodecOptions options;
  ParseCodec("powersgd:2", BuiltinCodecs(), options);
  for (const std::string text :
       {"", "fp8", "fp16:2", "topk", "topk:", "topk:0", "topk:-1", "topk:0.67", "topk:1.5",
        "topk:nan", "topk:0.1x", "powersgd", "powersgd:0", "powersgd:1.5", "powersgd:99999"}) {
    EXPECT_THROW(ParseCodec(text, BuiltinCodecs(), options), ConfigError) << text;
  }
  EXPECT_EQ(CodecText(options), "powersgd:2");
}

/// Keeps nothing of a gradient: a codec of a program of its own.
class NothingCodec : public Codec {
 public:
  std::size_t EncodedBytes(std::size_t) const override { return 0; }
  void Encode(std::span<const float>, const GradientPosition&, std::span<std::byte>) override {}
  std::string Validate(const Encoding&) const override { return {}; }
  void Decode(const Encoding&, std::size_t, std::span<float> out) const override {
    std::ranges::fill(out, 0.0F);
  }
  void Add(const Encoding&, std::size_t, float, std::span<float>) const override {}
};

const CodecEntry kNothing{
    .name = "nothing",
    .summary = "no float at all",
    .parameter = "LEVEL",
    .whole_parameter = true,
    .check_parameter =
        [](double level, std::string_view) {
          if (level > 3) throw ConfigError("a level above 3");
        },
    .error_feedback = true,
    .make = [](const CodecOptions&, int) -> std::unique_ptr<Codec> {
      return std::make_unique<NothingCodec>();
    },
};

TEST(CodecOptions, ATableMayHaveFurtherCodecs) {
  std::vector<const CodecEntry*> table(BuiltinCodecs().begin(), BuiltinCodecs().end());
  table.push_back(&kNothing);
  CodecOptions options;
  ParseCodec("nothing:2", table, options);
  EXPECT_EQ(options.entry, &kNothing);
  EXPECT_EQ(options.parameter, 2);
  EXPECT_EQ(CodecText(options), "nothing:2");
  EXPECT_TRUE(UsesErrorFeedback(options));
  EXPECT_EQ(ReplyCodec(options).entry, &kFp32Codec);
  EXPECT_EQ(WireBytes(options, 1000), 0U);
  EXPECT_THROW(ParseCodec("nothing:4", table, options), ConfigError);
  EXPECT_THROW(ParseCodec("nothing:1.5", table, options), ConfigError);
  EXPECT_THROW(ParseCodec("nothing:2", BuiltinCodecs(), options), ConfigError);
}

TEST(CodecOptions, WhatThereIsIsNamedWhereACodecIsUnknown) {
  CodecOptions options;
  try {
    ParseCodec("fp8", BuiltinCodecs(), options);
    FAIL() << "fp8 was taken";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "no codec is called 'fp8'; there are fp32, fp16, bf16, int8, topk:RATIO, "
                 "powersgd:RANK, sign");
  }
}

TEST(CodecOptions, EveryBuiltinRowIsWhole) {
  std::set<std::string_view> names;
  for (const CodecEntry* entry : BuiltinCodecs()) {
    EXPECT_TRUE(names.insert(entry->name).second) << entry->name;
    EXPECT_FALSE(entry->summary.empty()) << entry->name;
    EXPECT_EQ(entry->parameter.empty(), entry->check_parameter == nullptr) << entry->name;
    EXPECT_TRUE(entry->make != nullptr || entry->wire_bytes != nullptr) << entry->name;
  }
}

}  // namespace
}  // namespace ringside
