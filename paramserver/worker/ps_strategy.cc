// In a step the gradient of each slice goes to its server (M bytes in all), and the parameters come
// back (M bytes), or the sum of the gradients. At the start worker 0 loads the servers, then all
// workers pull.
#include "ringside/paramserver/worker/ps_strategy.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/codec/codec.h"
#include "ringside/common/core/bucket.h"
#include "ringside/common/strategy/plan_agreement.h"
#include "ringside/paramserver/wire/checksum.h"

namespace ringside {
namespace {

constexpr std::size_t kKiB = 1024;

std::size_t BytesOf(const StrategyOptions& options, const IntegerOption& option) {
  return static_cast<std::size_t>(options.Get(option)) * kKiB;
}

LinkFacts FactsOf(const CommOptions& comm, const std::vector<ServerAddress>& addresses) {
  const bool is_one_host = std::ranges::all_of(addresses, &ServerAddress::IsHere);
  return {.scope = is_one_host ? LinkScope::kIntraHost : LinkScope::kInterHost,
          .bytes_per_s = comm.link_bytes_per_s,
          .round_trip_s = comm.link_round_trip_s,
          .racks = comm.racks};
}

/// The bytes of all slices in a step, as sent.
StepBytes BytesInAStep(const SlicePlan& slices, const CodecOptions& codec) {
  StepBytes sum;
  for (int index = 0; index < slices.slices(); ++index) {
    const std::size_t elements = slices.slice(index).size;
    sum.gradients += static_cast<double>(WireBytes(codec, elements));
    sum.parameters += static_cast<double>(WireBytes(ReplyCodec(codec), elements));
  }
  return sum;
}

}  // namespace

void PsStrategy::Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) {
  failure_.Check();
  calls_.Start(space, plan);
  failure_.Guard([&] {
    space_ = &space;
    plan_ = &plan;
    first_step_ = from.step;
    if (!options_.servers_update) {
      open_.resize(static_cast<std::size_t>(plan.buckets()));
      std::ranges::copy(from.optimizer_state, context_.optimizer.state().begin());
    }
    AgreeOnPlan(from);
    const std::vector<ServerAddress> addresses =
        ServerAddresses(Deadline::After(context_.comm.rendezvous_timeout()));
    CutSlices(addresses);
    CheckSizes();
    MakeCodec();
    Connect(addresses);
    const bool brings = context_.world.rank == 0;
    if (brings) StartServers(from.step);
    if (brings) LoadServers(from);
    Barrier("ps/loaded", context_.comm.rendezvous_timeout());
    if (!brings) StartServers(from.step);
    PullAll(/*counted=*/false);
    Barrier("ps/started", context_.comm.rendezvous_timeout());
  });
}

void PsStrategy::CutSlices(const std::vector<ServerAddress>& addresses) {
  const LinkFacts links = FactsOf(context_.comm, addresses);
  WantedSizes wanted{.whole_buckets = options_.whole_buckets,
                     .window_bytes = BytesOf(context_.options, kWindowKb),
                     .order = context_.options.order};
  if (!wanted.whole_buckets) wanted.slice_bytes = BytesOf(context_.options, kSliceKb);
  const SliceSizes sizes = ChooseSliceSizes(links, wanted, *plan_, context_.world);
  slices_ = SlicePlan(*plan_, context_.world, sizes.slice_bytes / sizeof(float),
                      CodecBlock(context_.options.codec));
  limits_ = PlanSendLimits(sizes, links.scope, *plan_, slices_);
  int most = 0;
  for (int bucket = 0; bucket < slices_.buckets(); ++bucket) {
    most = std::max(most, slices_.end_slice(bucket) - slices_.first_slice(bucket));
  }
  transfer_scratch_.reserve(static_cast<std::size_t>(most));
  RecordSlices(sizes.slice_bytes);
}

void PsStrategy::RecordSlices(std::size_t slice_limit_bytes) const {
  Recorder& recorder = context_.recorder;
  recorder.SetFact("awaited_pushes", options_.awaited_pushes);
  recorder.SetFact("slices", slices_.slices());
  recorder.SetFact("slice_bytes", static_cast<double>(slices_.largest() * sizeof(float)));
  recorder.SetFact("slice_limit_bytes", static_cast<double>(slice_limit_bytes));
  recorder.SetFact("window_bytes", MeanWindowBytes(limits_));
  recorder.SetFact("busiest_link_bytes",
                   BusiestLinkBytes(slices_.shares(), context_.world,
                                    BytesInAStep(slices_, context_.options.codec)));
  if (slices_.slices() == 0) return;
  recorder.SetFact("last_slice_share",
                   static_cast<double>(slices_.slice(slices_.slices() - 1).size) /
                       static_cast<double>(plan_->elements()));
}

void PsStrategy::CheckSizes() const {
  const std::uint64_t bytes = slices_.largest() * sizeof(float);
  if (bytes <= FrameHeader::kMaxPayload) return;
  throw ConfigError("a part of a bucket has " + std::to_string(bytes) +
                    " bytes, more than a parameter server's message can hold (" +
                    std::to_string(FrameHeader::kMaxPayload) + "): choose smaller buckets");
}

void PsStrategy::MakeCodec() {
  const CodecOptions& options = context_.options.codec;
  if (!options.encodes()) return;
  codec_ = std::make_unique<WorkerCodec>(options, context_.world.rank, plan_->elements(), slices_,
                                         context_.recorder);
}

// Every rank finds a difference by itself, before any server starts, and names the same worker.
void PsStrategy::AgreeOnPlan(const StartPoint& from) {
  const std::vector<std::string> texts =
      StoreAllGather(context_.store, context_.world, "ps/plan", SummaryOf(*plan_, from).ToText(),
                     Deadline::After(context_.comm.rendezvous_timeout()));
  std::vector<PlanSummary> by_rank;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    by_rank.push_back(PlanSummaryFromText(texts[rank], static_cast<int>(rank)));
  }
  CheckPlanAgreement(by_rank);
}

std::vector<ServerAddress> PsStrategy::ServerAddresses(const Deadline& deadline) {
  std::vector<ServerAddress> addresses;
  for (int server = 0; server < context_.world.servers; ++server) {
    const std::string index = std::to_string(server);
    try {
      const std::string text = context_.store.Get("ps/" + index, deadline);
      addresses.push_back(transports_.ParseAddress(text));
    } catch (const CommError& error) {
      throw CommError("server " + index, "start", error.what());
    }
  }
  return addresses;
}

void PsStrategy::Connect(const std::vector<ServerAddress>& addresses) {
  std::vector<std::unique_ptr<ServerLink>> links;
  for (int server = 0; server < context_.world.servers; ++server) {
    const auto index = static_cast<std::size_t>(server);
    const LinkSetup setup{.worker = context_.world.rank,
                          .workers = context_.world.workers,
                          .servers = context_.world.servers,
                          .kernel_unsent = limits_[index].kernel_unsent,
                          .connections = limits_[index].connections};
    try {
      links.push_back(transports_.Connect(server, addresses[index], setup, *space_, context_.comm));
    } catch (const CommError& error) {
      throw CommError("server " + std::to_string(server), "start", error.what());
    }
  }
  transfers_ = std::make_unique<Transfers>(Transfers::Parts{
      .links = std::move(links),
      .slices = slices_,
      .limits = limits_,
      .order = context_.options.order,
      .first_server = FirstServer(),
      .timeout = context_.comm.timeout,
      .grace = options_.answers_at_once ? std::chrono::milliseconds{0}
                                        : DilatedClock::ToMachine(Transfers::kGrace),
      .codec = codec_.get(),
      .check_pushes = context_.options.Get(kCheckPushes),
      .failure = failure_,
      .recorder = context_.recorder,
      .timeline = context_.timeline});
}

void PsStrategy::StartServers(std::int64_t step) {
  for (int server = 0; server < context_.world.servers; ++server) {
    PlanInfo info{.worker = static_cast<std::uint32_t>(context_.world.rank),
                  .workers = static_cast<std::uint32_t>(context_.world.workers),
                  .server = static_cast<std::uint32_t>(server),
                  .servers = static_cast<std::uint32_t>(context_.world.servers),
                  .fingerprint = slices_.Fingerprint(),
                  .step = step};
    for (int index = 0; context_.world.rank == 0 && index < slices_.slices(); ++index) {
      const Slice& slice = slices_.slice(index);
      if (slice.server != server) continue;
      info.slices.push_back({.index = static_cast<std::uint32_t>(index),
                             .elements = slice.size,
                             .bucket = static_cast<std::uint32_t>(slice.bucket),
                             .leads = slice.leads});
    }
    transfers_->link(server).Start(info);
  }
}

void PsStrategy::LoadServers(const StartPoint& from) {
  const std::size_t elements = plan_->elements();
  const bool loads_state = options_.servers_update && elements > 0;
  const std::size_t vectors = loads_state ? from.optimizer_state.size() / elements : 0;
  for (std::size_t part = 0; part <= vectors; ++part) {
    const std::span<const float> values =
        part == 0 ? space_->params()
                  : from.optimizer_state.subspan((part - 1) * elements, elements);
    ForEachSlice([&](int index) {
      const Slice& slice = slices_.slice(index);
      Transfer transfer = MakeTransfer(FrameKind::kLoad, index);
      transfer.header.part = static_cast<std::uint16_t>(part);
      transfer.floats.out = values.subspan(slice.begin, slice.size);
      if (part == 0) transfer.floats.out_vector = FlatVector::kParams;
      return transfer;
    });
  }
}

void PsStrategy::PullAll(bool counted) {
  ForEachSlice([&](int index) {
    const Slice& slice = slices_.slice(index);
    Transfer transfer = MakeTransfer(FrameKind::kPull, index);
    transfer.header.step = settled_;
    transfer.floats.in = space_->params().subspan(slice.begin, slice.size);
    transfer.floats.in_vector = FlatVector::kParams;
    transfer.counted = counted;
    return transfer;
  });
}

// Without this, workers with more steps would wait for a worker that has fewer steps and is at the
// barrier, while that worker waits for them.
void PsStrategy::Retire() {
  ForEachSlice([&](int slice) {
    Transfer transfer = MakeTransfer(FrameKind::kRetire, slice);
    transfer.header.step = settled_ + 1;
    return transfer;
  });
}

void PsStrategy::ForEachSlice(const std::function<Transfer(int slice)>& make) {
  for (int bucket = 0; bucket < slices_.buckets(); ++bucket) BeginBucket(bucket, make);
  for (int bucket = 0; bucket < slices_.buckets(); ++bucket) transfers_->Await(bucket);
}

template <typename Make>
void PsStrategy::BeginBucket(int bucket, const Make& make) {
  transfer_scratch_.clear();
  for (int slice = slices_.first_slice(bucket); slice < slices_.end_slice(bucket); ++slice) {
    transfer_scratch_.push_back(make(slice));
  }
  transfers_->Begin(transfer_scratch_);
}

Transfer PsStrategy::MakeTransfer(FrameKind kind, int slice) const {
  Transfer transfer;
  transfer.header.kind = kind;
  transfer.header.worker = static_cast<std::uint32_t>(context_.world.rank);
  transfer.header.slice = static_cast<std::uint32_t>(slice);
  transfer.header.bucket = static_cast<std::uint32_t>(slices_.slice(slice).bucket);
  transfer.header.step = first_step_;
  transfer.floats.offset = slices_.slice(slice).begin;
  return transfer;
}

void PsStrategy::Submit(const Bucket& bucket) {
  failure_.Check();
  calls_.Submit(bucket);
  failure_.Guard([&] {
    if (!options_.servers_update) open_[static_cast<std::size_t>(bucket.index)] = bucket;
    BeginBucket(bucket.index, [&](int slice) { return PushOf(slice, bucket); });
  });
}

// A sum takes the place of the gradient. Servers that only sum answer nobody before they have used
// all gradients of the step.
Transfer PsStrategy::PushOf(int index, const Bucket& bucket) const {
  const Slice& slice = slices_.slice(index);
  const std::span<float> grads = bucket.grads.subspan(slice.begin - bucket.offset, slice.size);
  const std::span<float> params = bucket.params.subspan(slice.begin - bucket.offset, slice.size);
  const std::span<float> reply = options_.servers_update ? params : grads;
  Transfer transfer = MakeTransfer(FrameKind::kPushPull, index);
  transfer.header.step = bucket.step;
  if (context_.schedule.is_given()) {
    transfer.header.learning_rate = context_.schedule.At(bucket.step);
  }
  transfer.floats = {
      .out = grads,
      .in = reply,
      .offset = slice.begin,
      .out_vector = FlatVector::kGrads,
      .in_vector = options_.servers_update ? FlatVector::kParams : FlatVector::kGrads};
  transfer.counted = true;
  if (codec_ != nullptr) {
    transfer.floats.out = codec_->Push(index);
    transfer.floats.out_vector = FlatVector::kNone;
    transfer.encode_from = codec_->encodes_buckets() ? bucket.grads : grads;
    if (codec_->decodes_replies()) {
      transfer.floats.in = codec_->ReplyBuffer(index);
      transfer.floats.in_vector = FlatVector::kNone;
      transfer.decode_to = reply;
    }
  }
  return transfer;
}

void PsStrategy::Await(const Bucket& bucket) {
  failure_.Check();
  if (!calls_.Await(bucket)) return;
  failure_.Guard([&] { Finish(bucket.index); });
}

void PsStrategy::Finish(int bucket) {
  transfers_->Await(bucket);
  if (options_.servers_update) return;
  std::optional<Bucket>& open = open_[static_cast<std::size_t>(bucket)];
  if (!open) return;
  if (!context_.caller_updates) {
    const ScopedSpan span(context_.timeline, SpanKind::kApply, open->step, bucket, kComputeLane);
    context_.optimizer.Apply(open->offset, open->params, open->grads,
                             {open->step + 1, context_.schedule.At(open->step)});
  }
  open.reset();
}

void PsStrategy::Settle() {
  failure_.Check();
  calls_.Settle();
  failure_.Guard([&] {
    Retire();
    Barrier("ps/settle/" + std::to_string(settled_++), context_.comm.barrier_timeout);
    // Servers that only sum have no parameters, and those of all workers are equal.
    if (options_.servers_update) PullAll(/*counted=*/true);
  });
}

void PsStrategy::ReadOptimizerState(std::span<float> out) {
  failure_.Check();
  calls_.ReadOptimizerState();
  if (!options_.servers_update) {
    std::ranges::copy(context_.optimizer.state(), out.begin());
    return;
  }
  failure_.Guard([&] {
    const std::size_t elements = plan_->elements();
    const std::size_t vectors = elements == 0 ? 0 : out.size() / elements;
    for (std::size_t vector = 0; vector < vectors; ++vector) {
      ForEachSlice([&](int index) {
        const Slice& slice = slices_.slice(index);
        Transfer transfer = MakeTransfer(FrameKind::kReadState, index);
        transfer.header.part = static_cast<std::uint16_t>(vector + 1);
        transfer.floats.in = out.subspan(vector * elements + slice.begin, slice.size);
        return transfer;
      });
    }
  });
}

std::vector<StateVector> PsStrategy::State() {
  failure_.Check();
  calls_.State();
  if (codec_ == nullptr || codec_->Residual().empty()) return {};
  return {{.name = kResidualName, .values = codec_->Residual()}};
}

void PsStrategy::Stop() {
  failure_.Check();
  calls_.Stop();
  failure_.Guard([&] {
    for (int bucket = 0; bucket < slices_.buckets(); ++bucket) Finish(bucket);
    Retire();
    Barrier("ps/stop", context_.comm.barrier_timeout);
  });
  for (int server = 0; server < context_.world.servers; ++server) {
    context_.recorder.AddReconnects(transfers_->link(server).reconnects());
  }
  transfers_.reset();
}

void PsStrategy::Barrier(const std::string& name, std::chrono::milliseconds patience) {
  barriers_.GatherLiving(name, "", Deadline::After(patience));
}

}  // namespace ringside
