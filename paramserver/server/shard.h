#ifndef RINGSIDE_PARAMSERVER_SERVER_SHARD_H_
#define RINGSIDE_PARAMSERVER_SERVER_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ringside/common/codec/codec.h"
#include "ringside/common/optim/optimizer.h"
#include "ringside/paramserver/wire/gradient_reader.h"
#include "ringside/paramserver/wire/parameter_buffer.h"
#include "ringside/paramserver/wire/payload_pool.h"

namespace ringside {

/// One bucket at a server: its parameters, the optimizer for its range, the gradients of the open
/// update, and the version. A shard knows nothing about workers, steps or the network. A
/// `Consistency` decides *when* to apply.
///
/// A shard without an optimizer only sums: each update replaces its "parameters" by the sum of the
/// gradients.
///
/// Gradients are summed in ascending `order`, whatever their order of arrival. So the sum has the
/// same bits in every run. A gradient that is not next in the order waits in the payload in which
/// it came. Nothing is copied.
///
/// Not thread-safe, except that any thread may read through a `ParameterRef`.
class Shard {
 public:
  /// Parameters, optimizer state and version start at 0. `contributors` is the number of different
  /// `order`s that an update may have. `codec` decodes gradients.
  Shard(std::size_t elements, int contributors, const std::optional<OptimizerOptions>& optimizer,
        const CodecOptions& codec = {});

  std::size_t elements() const { return elements_; }
  int state_per_parameter() const { return optimizer_ ? optimizer_->state_per_parameter() : 0; }

  /// Overwrites the parameters (part 0) or state vector part - 1 of the optimizer. `values` has
  /// `elements()` floats.
  void Load(int part, const Payload& values);
  /// A copy of state vector `part` - 1, 1 <= part <= state_per_parameter().
  ParameterRef ReadState(int part);
  void SetVersion(std::int64_t version) { version_ = version; }

  /// Adds a gradient of `elements()` floats to the open update, as number `order` of its sum. It
  /// may be an encoding instead, in one piece and checked. An order may be used only once per
  /// update.
  void Contribute(int order, PayloadPtr gradient);
  /// Sums the gradients that have come, up to the first missing one, and frees them. Optional:
  /// `Apply` sums the rest. Does nothing when only one gradient has come, because it would only be
  /// copied.
  void AccumulateInOrder();
  /// Takes one optimizer step with the sum of the gradients (at least one), multiplied by `scale`,
  /// and opens the next update. Earlier references to the parameters stay valid and unchanged.
  void Apply(const Update& update, float scale = 1);

  /// The present parameters. They do not change while a reference exists.
  ParameterRef parameters() const { return buffers_[current_]; }
  /// The present parameters as replies to pushes carry them under this codec (`ReplyCodec`). They
  /// are encoded once per version. All workers that get this version get the same bytes.
  ParameterRef Reply();
  /// The number of applied updates.
  std::int64_t version() const { return version_; }
  const CopyCount& copies() const { return copies_; }

 private:
  void TakeReaders(int end);
  void LetGradientsGo();
  std::size_t ExclusiveBuffer();

  std::size_t elements_;
  std::unique_ptr<Optimizer> optimizer_;  // null: it only sums
  std::vector<ParameterRef> buffers_;     // one unless replies still hold older versions
  std::size_t current_ = 0;
  std::vector<PayloadPtr> waiting_;      // by order
  std::vector<PayloadPtr> taken_;        // gradients that are being summed, in order
  std::vector<GradientReader> readers_;  // one for each of taken_
  int folded_ = 0;                       // sum_ contains orders [0, folded_); 0: sum_ is not used
  std::vector<float> sum_;               // allocated by the first AccumulateInOrder that needs it
  std::int64_t version_ = 0;
  CopyCount copies_;
  std::unique_ptr<Codec> codec_;               // of gradients; null: fp32
  std::unique_ptr<Codec> reply_codec_;         // null: fp32
  ParameterRef reply_;                         // encoded parameters
  std::optional<std::int64_t> reply_version_;  // version that reply_ holds
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SERVER_SHARD_H_
