#ifndef RINGSIDE_COMMON_CODEC_TIMED_CODEC_H_
#define RINGSIDE_COMMON_CODEC_TIMED_CODEC_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/codec/codec.h"
#include "ringside/common/measure/recorder.h"
#include "ringside/common/measure/timeline.h"

namespace ringside {

/// Adds the time from construction to destruction to the recorder's codec time.
class CodecStopwatch {
 public:
  explicit CodecStopwatch(Recorder& recorder) : recorder_(recorder) {}
  ~CodecStopwatch() { recorder_.AddCodecTime(DilatedClock::now() - begin_); }
  CodecStopwatch(const CodecStopwatch&) = delete;
  CodecStopwatch& operator=(const CodecStopwatch&) = delete;

 private:
  Recorder& recorder_;
  DilatedClock::time_point begin_ = DilatedClock::now();
};

/// Wraps any codec and measures all its calls. All strategies use this class.
class TimedCodec : public Codec {
 public:
  /// With a timeline, every call adds a span to its communication lane. This is for strategies
  /// whose caller does not see the calls. Null: the caller adds the spans.
  TimedCodec(std::unique_ptr<Codec> codec, Recorder& recorder, Timeline* timeline = nullptr)
      : codec_(std::move(codec)), recorder_(recorder), timeline_(timeline) {}

  /// Sets the step and the bucket of the following calls.
  void Locate(std::int64_t step, int bucket) {
    step_ = step;
    bucket_ = bucket;
  }

  std::size_t EncodedBytes(std::size_t elements) const override {
    return codec_->EncodedBytes(elements);
  }
  void Encode(std::span<const float> values, const GradientPosition& place,
              std::span<std::byte> out) override {
    const Measured measured(*this);
    codec_->Encode(values, place, out);
  }
  std::string Validate(const Encoding& encoding) const override {
    const Measured measured(*this);
    return codec_->Validate(encoding);
  }
  void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const override {
    const Measured measured(*this);
    codec_->Decode(encoding, begin, out);
  }
  void Add(const Encoding& encoding, std::size_t begin, float factor,
           std::span<float> sum) const override {
    const Measured measured(*this);
    codec_->Add(encoding, begin, factor, sum);
  }
  std::size_t block() const override { return codec_->block(); }
  const EncodingParts* parts() const override { return codec_->parts(); }
  std::span<float> Residual() override { return codec_->Residual(); }

 private:
  class Measured {
   public:
    explicit Measured(const TimedCodec& codec) : codec_(codec) {}
    ~Measured() {
      const auto end = DilatedClock::now();
      codec_.recorder_.AddCodecTime(end - begin_);
      if (codec_.timeline_ == nullptr) return;
      codec_.timeline_->Add(SpanKind::kCodec, begin_, end, codec_.step_, codec_.bucket_,
                            kCommunicationLane);
    }
    Measured(const Measured&) = delete;
    Measured& operator=(const Measured&) = delete;

   private:
    const TimedCodec& codec_;
    DilatedClock::time_point begin_ = DilatedClock::now();
  };

  std::unique_ptr<Codec> codec_;
  Recorder& recorder_;
  Timeline* timeline_;
  std::int64_t step_ = 0;
  int bucket_ = -1;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_TIMED_CODEC_H_
