#include "tests/common/allocation_counter.h"

#include <execinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>

namespace {

struct Record {
  std::size_t bytes = 0;
  std::array<void*, 24> frames{};
  int depth = 0;
  std::atomic<bool> complete = false;
};

constexpr std::int64_t kRecords = 64;

std::atomic<bool> counting = false;
std::atomic<std::int64_t> count = 0;
std::array<Record, kRecords> records;

void* Allocate(std::size_t bytes, std::size_t alignment) {
  if (counting.load(std::memory_order_relaxed)) {
    const std::int64_t index = count.fetch_add(1);
    if (index < kRecords) {
      Record& record = records[static_cast<std::size_t>(index)];
      record.bytes = bytes;
      record.depth = ::backtrace(record.frames.data(), static_cast<int>(record.frames.size()));
      record.complete.store(true, std::memory_order_release);
    }
  }
  void* memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return Allocate(bytes, 1); }
void* operator new[](std::size_t bytes) { return Allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace ringside {

void AllocationCounter::Start() {
  std::array<void*, 2> frames{};
  ::backtrace(frames.data(),
              static_cast<int>(frames.size()));  // it loads a library when first used
  for (Record& record : records) record.complete = false;
  count = 0;
  counting = true;
}

std::int64_t AllocationCounter::Stop() {
  counting = false;
  // Another thread may still be writing down an allocation that it has counted.
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, kRecords); ++i) {
    while (!records[static_cast<std::size_t>(i)].complete.load(std::memory_order_acquire)) {
      std::this_thread::yield();
    }
  }
  return count;
}

std::vector<AllocationCounter::Allocation> AllocationCounter::Seen() {
  std::vector<Allocation> seen;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, kRecords); ++i) {
    const Record& record = records[static_cast<std::size_t>(i)];
    const std::unique_ptr<char*, decltype(&std::free)> symbols(
        ::backtrace_symbols(record.frames.data(), record.depth), &std::free);
    Allocation& allocation = seen.emplace_back();
    allocation.bytes = record.bytes;
    for (int frame = 2; symbols != nullptr && frame < record.depth; ++frame) {
      allocation.frames.emplace_back(symbols.get()[frame]);
    }
  }
  return seen;
}

std::string AllocationCounter::SeenText() {
  std::string text;
  for (const Allocation& allocation : Seen()) {
    text += std::to_string(allocation.bytes) + " bytes from";
    for (const std::string& frame : allocation.frames) text += "\n    " + frame;
    text += "\n";
  }
  return text;
}

}  // namespace ringside
