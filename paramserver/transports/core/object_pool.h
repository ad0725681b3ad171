#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_OBJECT_POOL_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_OBJECT_POOL_H_

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace ringside {

/// A memory pool for short-lived objects, so that later steps allocate nothing. It adds several
/// objects at a time, as `PayloadPool` does. Objects are constructed and destroyed as usual; only
/// their memory is kept. All objects must be destroyed before the pool. Thread-safe.
template <typename T>
class ObjectPool {
 public:
  template <typename... Arguments>
  T& Make(Arguments&&... arguments) {
    return *new (TakeMemory()) T(std::forward<Arguments>(arguments)...);
  }

  void Destroy(T& object) {
    object.~T();
    const std::lock_guard lock(mutex_);
    free_.push_back(&object);  // there is room for all
  }

 private:
  struct Memory {
    alignas(T) std::array<std::byte, sizeof(T)> bytes;
  };

  using Chunk = std::array<Memory, 16>;

  void* TakeMemory() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) Grow();
    void* const memory = free_.back();
    free_.pop_back();
    return memory;
  }

  void Grow() {
    free_.reserve((all_.size() + 1) * std::tuple_size_v<Chunk>);
    for (Memory& memory : *all_.emplace_back(new Chunk)) free_.push_back(memory.bytes.data());
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Chunk>> all_;
  std::vector<void*> free_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_OBJECT_POOL_H_
