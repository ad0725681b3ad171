#ifndef RINGSIDE_COMMON_CODEC_TIMED_CODEC_H_
#define RINGSIDE_COMMON_CODEC_TIMED_CODEC_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "common/codec/codec.h"
#include "common/measure/recorder.h"

namespace ringside {

/// Adds the time from construction to destruction to the recorder's codec time.
class CodecStopwatch {
 public:
  explicit CodecStopwatch(Recorder& recorder) : recorder_(recorder) {}
  ~CodecStopwatch() { recorder_.AddCodecTime(std::chrono::steady_clock::now() - begin_); }
  CodecStopwatch(const CodecStopwatch&) = delete;
  CodecStopwatch& operator=(const CodecStopwatch&) = delete;

 private:
  Recorder& recorder_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Measures all that any codec does, for all strategies in one place.
class TimedCodec : public Codec {
 public:
  TimedCodec(std::unique_ptr<Codec> codec, Recorder& recorder)
      : codec_(std::move(codec)), recorder_(recorder) {}

  std::size_t EncodedBytes(std::size_t elements) const override {
    return codec_->EncodedBytes(elements);
  }
  void Encode(std::span<const float> values, const CodecPlace& place,
              std::span<std::byte> out) override {
    const CodecStopwatch stopwatch(recorder_);
    codec_->Encode(values, place, out);
  }
  std::string DamageOf(const Encoding& encoding) const override {
    const CodecStopwatch stopwatch(recorder_);
    return codec_->DamageOf(encoding);
  }
  void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const override {
    const CodecStopwatch stopwatch(recorder_);
    codec_->Decode(encoding, begin, out);
  }
  void Add(const Encoding& encoding, std::size_t begin, float factor,
           std::span<float> sum) const override {
    const CodecStopwatch stopwatch(recorder_);
    codec_->Add(encoding, begin, factor, sum);
  }

 private:
  std::unique_ptr<Codec> codec_;
  Recorder& recorder_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_TIMED_CODEC_H_
