#include "ringside/common/core/store.h"

#include "ringside/common/core/errors.h"

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

std::vector<std::string> StoreAllGather(Store& store, const World& world, std::string_view name,
                                        std::string_view mine, const Deadline& deadline) {
  const std::string prefix = "exchange/" + std::string(name) + "/";
  store.Set(prefix + std::to_string(world.rank), mine);
  std::vector<std::string> all;
  for (int rank = 0; rank < world.workers; ++rank) {
    try {
      all.push_back(store.Get(prefix + std::to_string(rank), deadline));
    } catch (const CommError& error) {
      throw CommError("worker " + std::to_string(rank), "exchange of " + std::string(name),
                      error.what());
    }
  }
  return all;
}

}  // namespace ringside
