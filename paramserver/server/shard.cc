// Summation, for the gradients g_0 .. g_(n-1) of an update:
//   sum = ((g_0 + g_1) + g_2) + ...
// always in this order. `AccumulateInOrder` adds the gradients that have come, up to the first
// missing one; `Apply` adds the rest. `Apply` works in blocks that stay in the first-level cache.
// It completes a block of the sum and gives it to the optimizer. So with up to two contributors the
// whole sum never exists in memory. All work is element-wise, so neither the blocks nor the time
// when `AccumulateInOrder` ran changes a bit of the result.
#include "ringside/paramserver/server/shard.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/wire/wire_codec.h"

namespace ringside {
namespace {

constexpr std::size_t kBlock = 2048;  // floats: 8 KiB of sum, beside parameters, state and gradient

}  // namespace

Shard::Shard(std::size_t elements, int contributors,
             const std::optional<OptimizerOptions>& optimizer, const CodecOptions& codec)
    : elements_(elements),
      optimizer_(optimizer ? Optimizer::Make(*optimizer, elements) : nullptr),
      waiting_(static_cast<std::size_t>(contributors)),
      codec_(MakeWireCodec(codec)),
      reply_codec_(MakeWireCodec(ReplyCodec(codec))),
      reply_(reply_codec_ ? WireFloats(ReplyCodec(codec), elements) : 0) {
  buffers_.emplace_back(elements);
  readers_.reserve(waiting_.size());
  taken_.reserve(waiting_.size());
}

void Shard::Load(int part, const Payload& values) {
  FloatReader reader(values.pieces());
  if (part == 0) {
    current_ = ExclusiveBuffer();
    reader.Assign(buffers_[current_].mutable_values());
  } else {
    const auto vector = static_cast<std::size_t>(part - 1);
    reader.Assign(optimizer_->state().subspan(vector * elements_, elements_));
  }
  copies_ += reader.count();
}

ParameterRef Shard::ReadState(int part) {
  const auto vector = static_cast<std::size_t>(part - 1);
  ParameterRef copy(elements_);
  std::ranges::copy(optimizer_->state().subspan(vector * elements_, elements_),
                    copy.mutable_values().begin());
  copies_.assigned += elements_ * sizeof(float);
  return copy;
}

void Shard::Contribute(int order, PayloadPtr gradient) {
  PayloadPtr& slot = waiting_[static_cast<std::size_t>(order)];
  if (slot != nullptr || order < folded_) throw InternalError("contributed twice to one update");
  slot = std::move(gradient);
}

void Shard::AccumulateInOrder() {
  int end = folded_;
  while (end < static_cast<int>(waiting_.size()) && waiting_[static_cast<std::size_t>(end)]) ++end;
  if (end - folded_ < (folded_ == 0 ? 2 : 1)) return;
  TakeReaders(end);
  sum_.resize(elements_);
  for (std::size_t begin = 0; begin < elements_; begin += kBlock) {
    const auto block = std::span(sum_).subspan(begin, std::min(kBlock, elements_ - begin));
    auto reader = readers_.begin();
    if (folded_ == 0) (reader++)->Assign(block);
    for (; reader != readers_.end(); ++reader) reader->Add(block);
  }
  LetGradientsGo();
  folded_ = end;
}

void Shard::Apply(const Update& update, float scale) {
  TakeReaders(static_cast<int>(waiting_.size()));
  if (folded_ == 0 && readers_.empty()) throw InternalError("an update without a gradient");
  const std::span<const float> in = buffers_[current_].values();
  const std::size_t target = ExclusiveBuffer();
  const std::span<float> out = buffers_[target].mutable_values();
  std::array<float, kBlock> scratch;
  for (std::size_t begin = 0; begin < elements_; begin += kBlock) {
    const std::size_t size = std::min(kBlock, elements_ - begin);
    const auto block =
        folded_ == 0 ? std::span(scratch).first(size) : std::span(sum_).subspan(begin, size);
    auto reader = readers_.begin();
    if (folded_ == 0) (reader++)->Assign(block);
    for (; reader != readers_.end(); ++reader) reader->Add(block);
    if (scale != 1) std::ranges::for_each(block, [scale](float& value) { value *= scale; });
    if (optimizer_ == nullptr) {
      std::ranges::copy(block, out.begin() + static_cast<std::ptrdiff_t>(begin));
    } else {
      optimizer_->Apply(begin, in.subspan(begin, size), out.subspan(begin, size), block, update);
    }
  }
  LetGradientsGo();
  current_ = target;
  folded_ = 0;
  ++version_;
}

ParameterRef Shard::Reply() {
  if (reply_codec_ == nullptr) return parameters();
  if (reply_version_ == version_) return reply_;
  if (!reply_.exclusive()) reply_ = ParameterRef(reply_.values().size());
  const auto bytes = std::as_writable_bytes(reply_.mutable_values());
  reply_codec_->Encode(buffers_[current_].values(), {},
                       bytes.first(reply_codec_->EncodedBytes(elements_)));
  copies_.assigned += bytes.size();
  reply_version_ = version_;
  return reply_;
}

// Moves the waiting gradients below order `end` to taken_, and makes their readers, in order.
void Shard::TakeReaders(int end) {
  for (int order = folded_; order < end; ++order) {
    PayloadPtr& slot = waiting_[static_cast<std::size_t>(order)];
    if (slot == nullptr) continue;
    readers_.emplace_back(*slot, codec_.get(), elements_);
    taken_.push_back(std::move(slot));
  }
}

void Shard::LetGradientsGo() {
  for (const GradientReader& reader : readers_) copies_ += reader.count();
  readers_.clear();
  taken_.clear();
}

// Returns a buffer that no reply reads: the present one if possible, otherwise a spare one. There
// is at most one buffer for each version that a reply still needs, and one more.
std::size_t Shard::ExclusiveBuffer() {
  if (buffers_[current_].exclusive()) return current_;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].exclusive()) return i;
  }
  buffers_.emplace_back(elements_);
  return buffers_.size() - 1;
}

}  // namespace ringside
