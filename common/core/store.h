#ifndef RINGSIDE_COMMON_CORE_STORE_H_
#define RINGSIDE_COMMON_CORE_STORE_H_

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/common/core/world.h"

namespace ringside {

/// A small key-value store that all processes of a job share, for rendezvous. A key is set only
/// once. Thread-safe.
class Store {
 public:
  virtual ~Store() = default;
  /// Throws `CommError` when the key is already set to another value, or the store cannot be
  /// reached.
  virtual void Set(std::string_view key, std::string_view value) = 0;
  /// Waits until the key is set. Throws `CommError` that names the key when the deadline passes.
  virtual std::string Get(std::string_view key, const Deadline& deadline) = 0;
  /// Nobody will ask for this key any more. A store may keep it all the same.
  virtual void Forget(std::string_view /*key*/) {}
};

/// A store for ranks that are threads of one process.
class InProcessStore : public Store {
 public:
  void Set(std::string_view key, std::string_view value) override;
  std::string Get(std::string_view key, const Deadline& deadline) override;
  void Forget(std::string_view key) override;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string, std::less<>> values_;
};

/// The value that the keeper of a store gives to what a worker would have contributed to an
/// exchange, once the job goes on without that worker. No worker contributes this text.
inline constexpr std::string_view kLostWorkerValue = "ringside: the job has lost this worker.";

/// The key of what worker `rank` contributes to the exchange `name`.
std::string ExchangeKey(std::string_view name, int rank);
/// Whether `key` is that of a contribution of worker `rank`, to any exchange.
bool IsExchangeKeyOf(std::string_view key, int rank);

/// Every worker contributes `mine` under `name` and gets the values of all workers, by rank. It is
/// for small data outside the hot path (evaluation sums, batch-norm buffers). `name` must be new
/// each time. No call returns before all workers have called. Throws `CommError` naming the first
/// rank that was missing or that the job has lost.
std::vector<std::string> StoreAllGather(Store& store, const World& world, std::string_view name,
                                        std::string_view mine, const Deadline& deadline);

/// The same, except that nobody waits for a worker that the job has lost: its value is absent,
/// unless it had contributed before. All workers get the same values.
std::vector<std::optional<std::string>> StoreGatherLiving(Store& store, const World& world,
                                                          std::string_view name,
                                                          std::string_view mine,
                                                          const Deadline& deadline);

/// Exchanges that all workers do one after the other, in the same order. The store keeps the values
/// of the last two only, so a job may have any number of them. Borrows the store. Used by one
/// thread.
class ExchangeSeries {
 public:
  ExchangeSeries(Store& store, World world) : store_(store), world_(std::move(world)) {}

  /// `StoreGatherLiving`.
  std::vector<std::optional<std::string>> GatherLiving(const std::string& name,
                                                       std::string_view mine,
                                                       const Deadline& deadline);

 private:
  Store& store_;
  const World world_;
  std::string previous_;  // the name of the last exchange; empty: there was none
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_STORE_H_
