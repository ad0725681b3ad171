#ifndef RINGSIDE_COMMON_OPTIM_OPTIMIZER_H_
#define RINGSIDE_COMMON_OPTIM_OPTIMIZER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ringside {

struct OptimizerOptions {
  enum class Kind { kSgd, kAdam, kAdamW };
  Kind kind = Kind::kSgd;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;  ///< L2 penalty for SGD and Adam, decoupled for AdamW.
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  /// Every gradient is multiplied by this first: 1 / workers makes a mean of a sum.
  double gradient_scale = 1;
};

/// One application of an optimizer.
struct Update {
  std::int64_t number = 1;  ///< 1-based count of applications, for bias correction.
  double learning_rate = 0;
};

/// Throws `ConfigError` that says which value has no meaning.
void CheckOptimizerOptions(const OptimizerOptions& options);

/// An update rule on flat spans. Workers and servers run the same code. The formulas are those of
/// torch::optim. Updates are element-wise, so the bits of the result do not depend on how the flat
/// vector is cut into spans.
///
/// Thread safety: calls on disjoint ranges may run at the same time.
class Optimizer {
 public:
  /// Makes an optimizer for a flat vector of `elements` parameters, which computes on the CPU.
  static std::unique_ptr<Optimizer> Make(const OptimizerOptions& options, std::size_t elements);
  virtual ~Optimizer() = default;

  /// Updates parameters [offset, offset + size). `in` has the current values, `out` gets the new
  /// ones. They are the same span or disjoint (in a server that still sends the old values).
  /// `grads` has the same length and is only read. Throws `DivergedError` if a gradient is not
  /// finite. It has then updated all parameters before that one, and some after it; that one and
  /// its state are as they were.
  void Apply(std::size_t offset, std::span<const float> in, std::span<float> out,
             std::span<const float> grads, const Update& update);

  /// Updates `params` in place.
  void Apply(std::size_t offset, std::span<float> params, std::span<const float> grads,
             const Update& update) {
    Apply(offset, params, params, grads, update);
  }

  /// Floats of state per parameter: 0, 1 (momentum) or 2 (moments).
  virtual int state_per_parameter() const = 0;
  std::size_t state_size() const {
    return elements_ * static_cast<std::size_t>(state_per_parameter());
  }
  /// Replaces all state: `state_per_parameter()` vectors of `elements` floats one after the other.
  /// An empty span changes nothing. While nothing is applied.
  virtual void LoadState(std::span<const float> state) = 0;
  /// Writes all state, in the same order. While nothing is applied.
  virtual void ReadState(std::span<float> out) = 0;
  /// The state itself; empty if it is not in this process's memory (on an accelerator).
  virtual std::span<float> state() { return {}; }

 protected:
  explicit Optimizer(std::size_t elements) : elements_(elements) {}
  std::size_t elements() const { return elements_; }

 private:
  /// As `Apply`, on spans of equal length that lie in the flat vector.
  virtual void ApplySpan(std::size_t offset, std::span<const float> in, std::span<float> out,
                         std::span<const float> grads, const Update& update) = 0;

  const std::size_t elements_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_OPTIM_OPTIMIZER_H_
