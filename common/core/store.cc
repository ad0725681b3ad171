#include "ringside/common/core/store.h"

#include <chrono>
#include <utility>

#include "ringside/common/base/errors.h"

namespace ringside {

void InProcessStore::Set(std::string_view key, std::string_view value) {
  const std::lock_guard lock(mutex_);
  const auto [entry, inserted] = values_.emplace(key, value);
  if (!inserted && entry->second != value) {
    throw CommError("store", "setting " + std::string(key), "it already has another value");
  }
  changed_.notify_all();
}

std::string InProcessStore::Get(std::string_view key, const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  auto found = values_.end();
  const auto is_set = [&] { return (found = values_.find(key)) != values_.end(); };
  if (!changed_.wait_until(lock, deadline.at(), is_set)) {
    throw CommError("store", "waiting for " + std::string(key), "it was not set in time");
  }
  return found->second;
}

void InProcessStore::Forget(std::string_view key) {
  const std::lock_guard lock(mutex_);
  const auto found = values_.find(key);
  if (found != values_.end()) values_.erase(found);
}

namespace {

constexpr std::string_view kExchangePrefix = "exchange/";
// A store in another process may give up a bit before the deadline.
constexpr std::chrono::milliseconds kMargin{100};

std::string NameOf(int rank) { return "worker " + std::to_string(rank); }

std::string OperationOf(std::string_view name) { return "exchange of " + std::string(name); }

}  // namespace

std::string ExchangeKey(std::string_view name, int rank) {
  return std::string(kExchangePrefix) + std::string(name) + "/" + std::to_string(rank);
}

bool IsExchangeKeyOf(std::string_view key, int rank) {
  return key.starts_with(kExchangePrefix) &&
         key.ends_with(std::string("/").append(std::to_string(rank)));
}

std::vector<std::optional<std::string>> StoreGatherLiving(Store& store, const World& world,
                                                          std::string_view name,
                                                          std::string_view mine,
                                                          const Deadline& deadline) {
  store.Set(ExchangeKey(name, world.rank), mine);
  std::vector<std::optional<std::string>> all;
  for (int rank = 0; rank < world.workers; ++rank) {
    try {
      std::string value = store.Get(ExchangeKey(name, rank), deadline);
      const bool lost = value == kLostWorkerValue;
      all.push_back(lost ? std::nullopt : std::optional(std::move(value)));
    } catch (const CommError& error) {
      if (deadline.remaining() > kMargin) throw;  // the store has failed, not the worker
      throw CommError(NameOf(rank), OperationOf(name), error.what());
    }
  }
  return all;
}

// This exchange has ended, so every worker that the job has not lost has contributed to it. Each
// did so after it had read all values of the exchange before. So nobody will read those again. A
// lost worker reads nothing any more.
std::vector<std::optional<std::string>> ExchangeSeries::GatherLiving(const std::string& name,
                                                                     std::string_view mine,
                                                                     const Deadline& deadline) {
  auto all = StoreGatherLiving(store_, world_, name, mine, deadline);
  try {
    if (!previous_.empty()) store_.Forget(ExchangeKey(previous_, world_.rank));
  } catch (const CommError&) {  // NOLINT(bugprone-empty-catch)
    // A store may keep it all the same. If the store has failed, the next exchange says so.
  }
  previous_ = name;
  return all;
}

std::vector<std::string> StoreAllGather(Store& store, const World& world, std::string_view name,
                                        std::string_view mine, const Deadline& deadline) {
  std::vector<std::string> all;
  for (std::optional<std::string>& value : StoreGatherLiving(store, world, name, mine, deadline)) {
    if (!value) {
      throw CommError(NameOf(static_cast<int>(all.size())), OperationOf(name),
                      "the job has lost it");
    }
    all.push_back(*std::move(value));
  }
  return all;
}

}  // namespace ringside
