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
/// update, and the version. A shard knows no workers, no steps and no network: a `Consistency`
/// decides *when* to apply.
///
/// Gradients are summed in ascending `order`, whatever their order of arrival, so a sum is bitwise
/// the same from run to run. A gradient whose turn has not come waits in the payload that it came
/// in; nothing is copied.
///
/// Not thread-safe, except that any thread may read a `ParameterRef` once handed out.
class Shard {
 public:
  /// Parameters, optimizer state and version start at 0. `contributors` is how many different
  /// `order`s an update may have. Gradients are encoded as `codec` says.
  Shard(std::size_t elements, int contributors, const OptimizerOptions& optimizer,
        const CodecOptions& codec = {});

  std::size_t elements() const { return elements_; }
  int state_per_parameter() const { return optimizer_->state_per_parameter(); }

  /// Overwrites the parameters (part 0) or state vector part - 1 of the optimizer. `values` has
  /// `elements()` floats.
  void Load(int part, const Payload& values);
  /// A copy of state vector `part` - 1, 1 <= part <= state_per_parameter().
  ParameterRef ReadState(int part);
  void SetVersion(std::int64_t version) { version_ = version; }

  /// Adds a gradient of `elements()` floats (or its encoding, in one piece and checked) to the open
  /// update, as number `order` of its sum. An order may be used at most once per update.
  void Contribute(int order, PayloadPtr gradient);
  /// Sums the gradients that have come without a gap in the order, and frees them. Optional:
  /// `Apply` sums the rest. Does nothing while a single gradient has come: that one would only be
  /// copied.
  void AccumulateInOrder();
  /// Takes one optimizer step with the sum of the gradients (at least one), times `scale`, and
  /// opens the next update. Earlier references to the parameters stay intact.
  void Apply(const Update& update, float scale = 1);

  /// The present parameters. They never change while a reference is held.
  ParameterRef parameters() const { return buffers_[current_]; }
  /// The present parameters as replies to pushes carry them under this codec (`ReplyCodec`). They
  /// are encoded once a version: all workers that get this version get the same bytes.
  ParameterRef Reply();
  /// Count of applied updates.
  std::int64_t version() const { return version_; }
  const CopyCount& copies() const { return copies_; }

 private:
  void TakeReaders(int end);
  void LetGradientsGo();
  std::size_t ExclusiveBuffer();

  std::size_t elements_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<ParameterRef> buffers_;  // one unless replies still hold older versions
  std::size_t current_ = 0;
  std::vector<PayloadPtr> waiting_;      // by order
  std::vector<PayloadPtr> taken_;        // gradients that are being summed, in order
  std::vector<GradientReader> readers_;  // one for each of taken_
  int folded_ = 0;                       // orders [0, folded_) are in sum_; 0: sum_ holds nothing
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
