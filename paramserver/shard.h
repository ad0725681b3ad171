#ifndef RINGSIDE_PARAMSERVER_SHARD_H_
#define RINGSIDE_PARAMSERVER_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/codec/codec.h"
#include "common/optim/optimizer.h"
#include "paramserver/gradient_reader.h"
#include "paramserver/parameter_buffer.h"
#include "paramserver/payload.h"

namespace ringside {

/// What a server holds of one bucket: parameters, the optimizer for its range, the gradients of the
/// open update, and the version. Knows no workers, no steps and no network: *when* to apply is the
/// business of a `Consistency`.
///
/// Contributions are summed in ascending order of their `order`, whatever the order of arrival, so
/// a sum is bitwise the same from run to run. A contribution whose turn has not come waits as it
/// arrived; nothing is copied.
///
/// Thread safety: none, except that a `ParameterRef` once handed out may be read on any thread.
class Shard {
 public:
  /// Parameters and optimizer state are zero, the version is 0. `contributors`: how many different
  /// `order`s an update may have. Gradients come as `codec` says.
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
  /// update, as number `order` of its sum. Each
  /// order at most once per update.
  void Contribute(int order, std::unique_ptr<const Payload> gradient);
  /// Sums what has come so far as the order allows, and frees it. Optional: `Apply` does what is
  /// left. Adds nothing while a single gradient has come: that one would only be copied.
  void Fold();
  /// One optimizer step with the sum of what was contributed (at least one gradient), times
  /// `scale`; opens the next update. References to the parameters before stay intact.
  void Apply(const Update& update, float scale = 1);

  /// Present parameters; they never change while a reference is held.
  ParameterRef parameters() const { return buffers_[current_]; }
  /// The same as what replies to pushes carry under this codec (`ReplyCodec`), encoded once a
  /// version: all workers that get this version get the same bytes.
  ParameterRef Reply();
  /// Count of applied updates.
  std::int64_t version() const { return version_; }
  const CopyCount& copies() const { return copies_; }

 private:
  std::vector<GradientReader> TakeReaders(std::vector<std::unique_ptr<const Payload>>& taken,
                                          int end);
  std::size_t ExclusiveBuffer();

  std::size_t elements_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<ParameterRef> buffers_;  // one unless replies still hold older versions
  std::size_t current_ = 0;
  std::vector<std::unique_ptr<const Payload>> waiting_;  // by order
  int folded_ = 0;          // orders [0, folded_) are in sum_; 0: sum_ holds nothing
  std::vector<float> sum_;  // allocated by the first Fold that needs it
  std::int64_t version_ = 0;
  CopyCount copies_;
  std::unique_ptr<Codec> codec_;               // of gradients; null: fp32
  std::unique_ptr<Codec> reply_codec_;         // null: fp32
  ParameterRef reply_;                         // encoded parameters
  std::optional<std::int64_t> reply_version_;  // that reply_ holds
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SHARD_H_
