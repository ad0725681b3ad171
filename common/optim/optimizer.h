#ifndef RINGSIDE_COMMON_OPTIM_OPTIMIZER_H_
#define RINGSIDE_COMMON_OPTIM_OPTIMIZER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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
};

/// One application of an optimizer.
struct Update {
  std::int64_t number = 1;  ///< 1-based count of applications, for bias correction.
  double learning_rate = 0;
};

/// An update rule on flat spans: the very same code on workers and on servers. Formulas are those
/// of torch::optim. Element-wise, so the result of a span does not depend on how the flat vector is
/// cut, bitwise.
///
/// Thread safety: calls on disjoint ranges may run at the same time.
class Optimizer {
 public:
  /// For a flat vector of `elements` parameters.
  static std::unique_ptr<Optimizer> Make(const OptimizerOptions& options, std::size_t elements);
  virtual ~Optimizer() = default;

  /// Updates parameters [offset, offset + size). `in` are the present values, `out` gets the new
  /// ones; they are either the same span or disjoint (a server that still sends the old ones).
  /// `grads` is as long and read only.
  virtual void Apply(std::size_t offset, std::span<const float> in, std::span<float> out,
                     std::span<const float> grads, const Update& update) = 0;

  /// In place.
  void Apply(std::size_t offset, std::span<float> params, std::span<const float> grads,
             const Update& update) {
    Apply(offset, params, params, grads, update);
  }

  /// Floats of state per parameter: 0, 1 (momentum) or 2 (moments).
  virtual int state_per_parameter() const = 0;
  /// All state, `state_per_parameter()` vectors of `elements` floats one after the other.
  std::span<float> state() { return state_; }
  std::size_t state_size() const { return state_.size(); }

 protected:
  explicit Optimizer(std::size_t state_size) : state_(state_size, 0.0F) {}

 private:
  std::vector<float> state_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_OPTIM_OPTIMIZER_H_
