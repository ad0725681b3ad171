// Steps and bytes of N workers whose encoded gradients have c bytes each:
//   encoded partial sums   as the algorithm (encoded_links.h), with c bytes
//   gathered encodings     N-1 steps, (N-1) c
//   PowerSGD               two sums, of P and of Q; c is both factors, on a ring 2(N-1)/N c
// A second encoding of the sum, as around a ring, would send fewer bytes of top-k and sign from
// three workers on. But it would lose the same information again, and these two codecs lose most.
#include "ringside/ring/collectives/codec_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/codec/codec.h"
#include "ringside/common/codec/power_sgd.h"
#include "ringside/common/codec/timed_codec.h"
#include "ringside/common/core/failure_latch.h"
#include "ringside/ring/algorithms/links.h"
#include "ringside/ring/core/bucket_message.h"
#include "ringside/ring/core/operation.h"

namespace ringside {
namespace {

const BucketPlan& Prepared(const BucketPlan* plan, const BucketMessage& message) {
  if (plan != nullptr) return *plan;
  throw InternalError(fmt::format("sum of bucket {}, step {}: a codec needs Prepare before it",
                                  message.bucket, message.step));
}

/// The residual of a codec, if it has one.
std::vector<StateVector> StateOf(Codec& codec) {
  const std::span<float> residual = codec.Residual();
  if (residual.empty()) return {};
  return {{.name = kResidualName, .values = residual}};
}

/// Encodes sums of gradients between ranks. Passes other calls on, but its state is the codec's.
class PerHopCodecCollective : public Collective {
 public:
  PerHopCodecCollective(std::unique_ptr<EncodableCollective> inner,
                        const CollectiveContext& context, Recorder& recorder, Timeline& timeline)
      : options_(context.options.codec),
        rank_(context.world.rank),
        recorder_(recorder),
        timeline_(timeline),
        inner_(std::move(inner)) {}

  void Prepare(const FlatSpace& space, const BucketPlan& plan) override {
    inner_->Prepare(space, plan);
    plan_ = &plan;
    codec_ = std::make_unique<TimedCodec>(MakeCodec(options_, rank_, space.size()), recorder_,
                                          &timeline_);
    inner_->PrepareEncoded(plan, *codec_);
  }
  void AllReduceSum(const BucketMessage& message) override {
    CheckIsInBucket(message, Prepared(plan_, message));
    codec_->Locate(message.step, message.bucket);
    inner_->AllReduceEncoded(message, *codec_);
  }
  void Broadcast(std::span<std::byte> data, int root) override { inner_->Broadcast(data, root); }
  void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) override {
    inner_->AllGatherInto(mine, all);
  }
  Traffic traffic() const override { return inner_->traffic(); }
  std::string Notes() const override { return inner_->Notes(); }
  std::size_t segment_bytes() const override { return inner_->segment_bytes(); }
  std::vector<StateVector> State() override { return StateOf(*codec_); }

 private:
  const CodecOptions options_;
  const int rank_;  // in the job
  Recorder& recorder_;
  Timeline& timeline_;
  std::unique_ptr<EncodableCollective> inner_;
  const BucketPlan* plan_ = nullptr;
  std::unique_ptr<TimedCodec> codec_;
};

/// Passes on all calls but `Prepare` and sums. A failure here breaks the inner collective, too.
class CollectiveDecorator : public Collective {
 public:
  CollectiveDecorator(std::unique_ptr<Collective> inner, const CollectiveContext& context,
                      Recorder& recorder, Timeline& timeline)
      : options_(context.options.codec),
        rank_(context.world.rank),
        workers_(static_cast<std::size_t>(context.world.workers)),
        recorder_(recorder),
        timeline_(timeline),
        inner_(std::move(inner)) {}

  void Broadcast(std::span<std::byte> data, int root) override { inner().Broadcast(data, root); }
  void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) override {
    inner().AllGatherInto(mine, all);
  }
  Traffic traffic() const override { return inner_ == nullptr ? traffic_ : inner_->traffic(); }
  std::string Notes() const override { return inner_ == nullptr ? "" : inner_->Notes(); }

 protected:
  std::size_t InnerSegmentBytes() const { return inner_ == nullptr ? 0 : inner_->segment_bytes(); }
  /// Throws an earlier failure again.
  Collective& inner() {
    failure_.Check();
    return *inner_;
  }
  /// Closes the connections and throws the error. Every later call throws it too.
  [[noreturn]] void Fail(const CommError& error) {
    traffic_ = inner_->traffic();
    inner_.reset();
    failure_.Set(error);
    throw error;
  }

  const CodecOptions options_;
  const int rank_;
  const std::size_t workers_;
  Recorder& recorder_;
  Timeline& timeline_;
  const BucketPlan* plan_ = nullptr;  // null before `Prepare`

 private:
  std::unique_ptr<Collective> inner_;  // null after a failure
  FailureLatch failure_;
  Traffic traffic_;  // the bytes moved until the failure
};

class AllGatherCodecCollective : public CollectiveDecorator {
 public:
  using CollectiveDecorator::CollectiveDecorator;

  void Prepare(const FlatSpace& space, const BucketPlan& plan) override {
    inner().Prepare(space, plan);
    plan_ = &plan;
    codec_ = std::make_unique<TimedCodec>(MakeCodec(options_, rank_, space.size()), recorder_);
    for (int bucket = 0; bucket < plan.buckets(); ++bucket) {
      const std::size_t bytes = codec_->EncodedBytes(plan.range(bucket).size());
      mine_.reserve(bytes);
      all_.reserve(bytes * workers_);
    }
  }

  void AllReduceSum(const BucketMessage& message) override {
    CheckIsBucket(message, Prepared(plan_, message));
    mine_.resize(codec_->EncodedBytes(message.data.size()));
    Measured(message, [&] { codec_->Encode(message.data, {message.offset, message.step}, mine_); });
    inner().AllGatherOf(message, mine_, all_);
    Measured(message, [&] { AddUp(message); });
  }

  std::vector<StateVector> State() override { return StateOf(*codec_); }

 private:
  template <typename Body>
  void Measured(const BucketMessage& message, const Body& body) {
    const ScopedSpan span(timeline_, SpanKind::kCodec, message.step, message.bucket,
                          kCommunicationLane);
    body();
  }

  void AddUp(const BucketMessage& message) {
    std::ranges::fill(message.data, 0.0F);
    for (std::size_t rank = 0; rank < workers_; ++rank) {
      const Encoding theirs{std::span(all_).subspan(rank * mine_.size(), mine_.size()),
                            message.data.size()};
      const std::string damage = codec_->Validate(theirs);
      if (!damage.empty()) {
        Fail(
            CommError(fmt::format("worker {}", rank), Operation("sum of", message).Text(), damage));
      }
      codec_->Add(theirs, 0, 1, message.data);
    }
  }

  std::unique_ptr<Codec> codec_;
  std::vector<std::byte> mine_;
  std::vector<std::byte> all_;  // the encodings of all ranks
};

class PowerSgdCollective : public CollectiveDecorator {
 public:
  using CollectiveDecorator::CollectiveDecorator;

  /// Factors go through the inner sum, so they have its segments.
  std::size_t segment_bytes() const override { return InnerSegmentBytes(); }

  void Prepare(const FlatSpace& space, const BucketPlan& plan) override {
    inner().Prepare(space, plan);
    plan_ = &plan;
    powers_.clear();
    if (UsesErrorFeedback(options_)) residual_.assign(space.size(), 0.0F);
    for (int bucket = 0; bucket < plan.buckets(); ++bucket) {
      const BucketPlan::Range& range = plan.range(bucket);
      const PowerSgdShape shape(range.size(), options_);
      powers_.push_back(shape.compresses()
                            ? std::make_unique<PowerSgd>(shape, options_.seed, range.begin)
                            : nullptr);
    }
  }

  void AllReduceSum(const BucketMessage& message) override {
    CheckIsBucket(message, Prepared(plan_, message));
    PowerSgd* power = powers_[static_cast<std::size_t>(message.bucket)].get();
    if (power == nullptr) return inner().AllReduceSum(message);
    const auto measured = [&](const auto& body) {
      const ScopedSpan span(timeline_, SpanKind::kCodec, message.step, message.bucket,
                            kCommunicationLane);
      const CodecStopwatch stopwatch(recorder_);
      body();
    };
    std::span<float> matrix = message.data;
    measured([&] {
      if (!residual_.empty()) matrix = AddToResidual(message);
      power->ComputeLeft(matrix, message.step);
    });
    SumFactor(message, power->left());
    measured([&] {
      power->ComputeRight(matrix);
      if (!residual_.empty()) power->SubtractFrom(matrix);
    });
    SumFactor(message, power->right());
    measured([&] { power->Reconstruct(message.data); });
  }

  std::vector<StateVector> State() override {
    std::vector<StateVector> state;
    for (std::size_t bucket = 0; bucket < powers_.size(); ++bucket) {
      if (powers_[bucket] == nullptr) continue;
      state.push_back({.name = fmt::format("powersgd-q-{}", bucket),
                       .values = powers_[bucket]->right(),
                       .shared = true});
    }
    if (!residual_.empty()) state.push_back({.name = kResidualName, .values = residual_});
    return state;
  }

 private:
  /// Sums `factor`, which ranks send instead of the bucket.
  void SumFactor(const BucketMessage& message, std::span<float> factor) {
    inner().AllReduceSum({factor, message.offset, message.bucket, message.step});
  }

  /// The same error feedback as that of `ErrorFeedbackCodec`: adds the residual to the gradient,
  /// then subtracts what this worker's factors represent.
  std::span<float> AddToResidual(const BucketMessage& message) {
    const auto residual = std::span(residual_).subspan(message.offset, message.data.size());
    AddInto(residual, message.data);
    return residual;
  }

  std::vector<std::unique_ptr<PowerSgd>> powers_;  // by bucket; null: sent as it is
  std::vector<float> residual_;                    // empty without error feedback
};

}  // namespace

std::unique_ptr<Collective> MakeSum(const CollectiveEntry& entry, CollectiveContext context,
                                    Recorder& recorder, Timeline& timeline) {
  context.timeline = &timeline;
  const AggregationScheme way = context.options.codec.entry->scheme;
  if (way == AggregationScheme::kPlain || context.world.workers == 1) return entry.make(context);
  if (way == AggregationScheme::kReencodedPerHop) {
    if (entry.make_encoded == nullptr)
      throw InternalError("this collective cannot encode partial sums");
    return entry.make_encoded(context, [&](std::unique_ptr<EncodableCollective> inner) {
      return std::make_unique<PerHopCodecCollective>(std::move(inner), context, recorder, timeline);
    });
  }
  std::unique_ptr<Collective> inner = entry.make(context);
  if (way == AggregationScheme::kFactors) {
    return std::make_unique<PowerSgdCollective>(std::move(inner), context, recorder, timeline);
  }
  return std::make_unique<AllGatherCodecCollective>(std::move(inner), context, recorder, timeline);
}

std::optional<OptionRefusal> CheckCodecOn(const CollectiveEntry& entry, const CodecOptions& codec) {
  if (auto refusal = CheckErrorFeedback(codec)) return refusal;
  if (codec.entry->scheme != AggregationScheme::kReencodedPerHop) return std::nullopt;
  std::string reason = entry.why_not_encoded(codec);
  if (reason.empty() && entry.make_encoded == nullptr) {
    reason =
        "collective '" + entry.name + "' cannot encode partial sums; use topk, sign or powersgd";
  }
  if (reason.empty()) return std::nullopt;
  return OptionRefusal{"codec", reason};
}

}  // namespace ringside
