// Steps and bytes, of N workers, c bytes of encoded gradients a worker:
//   on the way       as of the algorithm (encoded_links.h), of c bytes
//   gathered         N-1 steps, (N-1) c
//   PowerSGD         two sums, of P and of Q: c is both factors, 2(N-1)/N c in all on a ring
// A second encoding of the sum, as around the ring, would send fewer bytes of top-k and sign from
// three workers on, but it would lose again what these two lose most of.
#include "ring/codec_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/codec.h"
#include "common/codec/power_sgd.h"
#include "common/codec/timed_codec.h"
#include "common/errors.h"
#include "ring/add_into.h"
#include "ring/gradient_places.h"

namespace ringside {
namespace {

/// Sums of gradients encoded on their way; the rest is passed on.
class EncodedCollective : public Collective {
 public:
  EncodedCollective(std::unique_ptr<EncodingCollective> inner, const CollectiveContext& context,
                    Recorder& recorder, Timeline& timeline)
      : options_(context.options.codec),
        rank_(context.world.rank),
        recorder_(recorder),
        timeline_(timeline),
        inner_(std::move(inner)) {}

  void Prepare(const FlatSpace& space, const BucketPlan& plan, std::int64_t first_step) override {
    inner_->Prepare(space, plan, first_step);
    places_.Prepare(space, plan, first_step);
    codec_ = std::make_unique<TimedCodec>(MakeCodec(options_, rank_, places_.elements()), recorder_,
                                          &timeline_);
  }
  void AllReduceSum(std::span<float> data, const std::string& what) override {
    const CodecPlace place = places_.Next(data);
    codec_->Locate(place.step, places_.BucketAt(place.offset));
    inner_->AllReduceEncoded(data, *codec_, place, what);
  }
  void Broadcast(std::span<float> data, int root) override { inner_->Broadcast(data, root); }
  std::vector<std::byte> AllGather(std::span<const std::byte> mine) override {
    return inner_->AllGather(mine);
  }
  Traffic traffic() const override { return inner_->traffic(); }
  std::string Notes() const override { return inner_->Notes(); }

 private:
  const CodecOptions options_;
  const int rank_;  // in the job
  Recorder& recorder_;
  Timeline& timeline_;
  std::unique_ptr<EncodingCollective> inner_;
  GradientPlaces places_;
  std::unique_ptr<TimedCodec> codec_;
};

/// Passes everything on but `Prepare` and sums. What fails here breaks the collective beneath, too.
class CollectiveDecorator : public Collective {
 public:
  CollectiveDecorator(std::unique_ptr<Collective> inner, const CollectiveContext& context,
                      Recorder& recorder, Timeline& timeline)
      : options_(context.options.codec),
        rank_(context.world.rank),
        recorder_(recorder),
        timeline_(timeline),
        inner_(std::move(inner)) {}

  void Broadcast(std::span<float> data, int root) override { inner().Broadcast(data, root); }
  std::vector<std::byte> AllGather(std::span<const std::byte> mine) override {
    return inner().AllGather(mine);
  }
  Traffic traffic() const override { return inner_ == nullptr ? traffic_ : inner_->traffic(); }
  std::string Notes() const override { return inner_ == nullptr ? "" : inner_->Notes(); }

 protected:
  /// Rethrows an earlier failure.
  Collective& inner() {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    return *inner_;
  }
  /// Throws it, now and from every later call, and closes the connections.
  [[noreturn]] void Fail(const CommError& error) {
    traffic_ = inner_->traffic();
    inner_.reset();
    failure_ = std::make_exception_ptr(error);
    throw error;
  }

  const CodecOptions options_;
  const int rank_;
  Recorder& recorder_;
  Timeline& timeline_;
  GradientPlaces places_;

 private:
  std::unique_ptr<Collective> inner_;  // null after a failure
  std::exception_ptr failure_;
  Traffic traffic_;  // up to the failure
};

class GatheringCollective : public CollectiveDecorator {
 public:
  using CollectiveDecorator::CollectiveDecorator;

  void Prepare(const FlatSpace& space, const BucketPlan& plan, std::int64_t first_step) override {
    inner().Prepare(space, plan, first_step);
    places_.Prepare(space, plan, first_step);
    codec_ =
        std::make_unique<TimedCodec>(MakeCodec(options_, rank_, places_.elements()), recorder_);
  }

  void AllReduceSum(std::span<float> data, const std::string& what) override {
    const int bucket = places_.BucketOf(data);
    const CodecPlace place = places_.Next(bucket);
    mine_.resize(codec_->EncodedBytes(data.size()));
    {
      const ScopedSpan span(timeline_, SpanKind::kCodec, place.step, bucket, kCommunicationLane);
      codec_->Encode(data, place, mine_);
    }
    const std::vector<std::byte> all = inner().AllGather(mine_);
    const ScopedSpan span(timeline_, SpanKind::kCodec, place.step, bucket, kCommunicationLane);
    AddUp(all, data, what);
  }

 private:
  void AddUp(std::span<const std::byte> all, std::span<float> data, const std::string& what) {
    std::ranges::fill(data, 0.0F);
    for (std::size_t rank = 0; rank * mine_.size() < all.size(); ++rank) {
      const Encoding theirs{all.subspan(rank * mine_.size(), mine_.size()), data.size()};
      const std::string damage = codec_->DamageOf(theirs);
      if (!damage.empty()) Fail(CommError(fmt::format("worker {}", rank), what, damage));
      codec_->Add(theirs, 0, 1, data);
    }
  }

  std::unique_ptr<Codec> codec_;
  std::vector<std::byte> mine_;
};

class PowerSgdCollective : public CollectiveDecorator {
 public:
  using CollectiveDecorator::CollectiveDecorator;

  void Prepare(const FlatSpace& space, const BucketPlan& plan, std::int64_t first_step) override {
    inner().Prepare(space, plan, first_step);
    places_.Prepare(space, plan, first_step);
    if (FeedsErrorsBack(options_)) residual_.assign(places_.elements(), 0.0F);
    for (int bucket = 0; bucket < plan.buckets(); ++bucket) {
      const BucketPlan::Range& range = plan.range(bucket);
      const PowerSgdShape shape(range.size(), options_.rank);
      powers_.push_back(shape.compresses()
                            ? std::make_unique<PowerSgd>(shape, options_.seed, range.begin)
                            : nullptr);
    }
  }

  void AllReduceSum(std::span<float> data, const std::string& what) override {
    const int bucket = places_.BucketOf(data);
    PowerSgd* power = powers_[static_cast<std::size_t>(bucket)].get();
    if (power == nullptr) return inner().AllReduceSum(data, what);
    const CodecPlace place = places_.Next(bucket);
    const auto measured = [&](const auto& body) {
      const ScopedSpan span(timeline_, SpanKind::kCodec, place.step, bucket, kCommunicationLane);
      const CodecStopwatch stopwatch(recorder_);
      body();
    };
    std::span<float> matrix = data;
    measured([&] {
      if (!residual_.empty()) matrix = AddToResidual(data, place.offset);
      power->ComputeLeft(matrix);
    });
    inner().AllReduceSum(power->left(), what);
    measured([&] {
      power->ComputeRight(matrix);
      if (!residual_.empty()) power->SubtractFrom(matrix);
    });
    inner().AllReduceSum(power->right(), what);
    measured([&] { power->Reconstruct(data); });
  }

 private:
  /// The same error feedback as `ErrorFeedbackCodec`'s: the residual takes the gradient in, and
  /// what this worker's factors say is taken from it.
  std::span<float> AddToResidual(std::span<const float> data, std::size_t offset) {
    const std::span<float> residual = std::span(residual_).subspan(offset, data.size());
    AddInto(residual, data);
    return residual;
  }

  std::vector<std::unique_ptr<PowerSgd>> powers_;  // by bucket; null: travels as it is
  std::vector<float> residual_;                    // empty without error feedback
};

}  // namespace

std::unique_ptr<Collective> MakeSum(const CollectiveEntry& entry, const CollectiveContext& context,
                                    Recorder& recorder, Timeline& timeline) {
  const CodecWay way = WayOf(context.options.codec.kind);
  if (way == CodecWay::kPlain || context.world.workers == 1) return entry.make(context);
  if (way == CodecWay::kOnTheWay) {
    if (entry.make_encoded == nullptr)
      throw InternalError("nothing can be encoded on its way here");
    return entry.make_encoded(context, [&](std::unique_ptr<EncodingCollective> inner) {
      return std::make_unique<EncodedCollective>(std::move(inner), context, recorder, timeline);
    });
  }
  std::unique_ptr<Collective> inner = entry.make(context);
  if (way == CodecWay::kFactors) {
    return std::make_unique<PowerSgdCollective>(std::move(inner), context, recorder, timeline);
  }
  return std::make_unique<GatheringCollective>(std::move(inner), context, recorder, timeline);
}

std::optional<OptionRefusal> CheckCodecOn(const CollectiveEntry& entry, const CodecOptions& codec) {
  if (auto refusal = CheckErrorFeedback(codec)) return refusal;
  if (WayOf(codec.kind) != CodecWay::kOnTheWay) return std::nullopt;
  const std::string reason = entry.why_not_encoded(codec);
  if (reason.empty()) return std::nullopt;
  return OptionRefusal{"codec", reason};
}

}  // namespace ringside
