#ifndef RINGSIDE_TESTS_FAULTS_UPDATE_LEDGER_H_
#define RINGSIDE_TESTS_FAULTS_UPDATE_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ringside/experiments/spec/extensions.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

inline constexpr std::size_t kLedgerSamples = 96;
inline constexpr int kLedgerTensors = 3;
inline constexpr std::size_t kLedgerBatch = 8;
/// Digits that a float holds exactly.
inline constexpr int kLedgerMaxEpochs = 12;

/// A model and a dataset that prove that each update is applied exactly once.
///
/// The model has an element for each sample in each of its tensors, and each tensor is a bucket.
/// The gradient of sample i in epoch e is 4^e in element i of every tensor. With plain SGD, and the
/// size of the global batch as the learning rate, an update subtracts 4^e. That is exact in any
/// order. So digit e, to the base 4, of an element without its sign is how often the gradient of
/// its sample in epoch e was applied. Sample and epoch tell step and worker (`Sampler`).
///
/// A step takes the milliseconds of the variable RINGSIDE_LEDGER_STEP_MS, if there is one, and
/// before that as much time of a processor as RINGSIDE_LEDGER_BUSY_MS says.
Extensions LedgerExtensions();

/// A resolved spec of this model, with one server less than buckets if the strategy has servers.
RunSpec LedgerSpec(const std::string& strategy, int workers, std::int64_t epochs);

/// How often the gradient of a sample in an epoch was applied to a tensor: 0 to 3. Throws
/// `std::runtime_error` for parameters that no updates can make.
int TimesApplied(std::span<const float> params, int tensor, std::size_t sample, std::int64_t epoch);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_FAULTS_UPDATE_LEDGER_H_
