// A collective of its own: rank 0 adds up what all have, in the order of the ranks, through the
// job's store.
#ifndef RINGSIDE_CONSUMER_OWN_COLLECTIVE_H_
#define RINGSIDE_CONSUMER_OWN_COLLECTIVE_H_

#include <ringside/common/base/deadline.h>
#include <ringside/ring/core/collective_entry.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

class StoreCollective : public ringside::Collective {
 public:
  explicit StoreCollective(const ringside::CollectiveContext& context)
      : world_(context.world),
        store_(context.store),
        comm_(context.comm),
        prefix_(context.prefix) {}

  void AllReduceSum(const ringside::BucketMessage& message) override {
    const std::vector<std::byte> all = AllGather(std::as_bytes(message.data));
    const std::size_t bytes = message.data.size_bytes();
    std::vector<float> theirs(message.data.size());
    std::ranges::fill(message.data, 0.0F);
    for (std::size_t begin = 0; begin < all.size() && bytes > 0; begin += bytes) {
      std::memcpy(theirs.data(), all.data() + begin, bytes);
      for (std::size_t i = 0; i < theirs.size(); ++i) message.data[i] += theirs[i];
    }
  }
  void Broadcast(std::span<std::byte> data, int root) override {
    const std::vector<std::byte> all = AllGather(data);
    std::memcpy(data.data(), all.data() + static_cast<std::size_t>(root) * data.size(),
                data.size());
  }
  void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) override {
    const std::string_view text(reinterpret_cast<const char*>(mine.data()), mine.size());
    all.clear();
    for (const std::string& theirs :
         ringside::StoreAllGather(store_, world_, prefix_ + "/" + std::to_string(calls_++), text,
                                  ringside::Deadline::After(comm_.timeout))) {
      const auto bytes = std::as_bytes(std::span(theirs));
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    traffic_.sent += mine.size();
    traffic_.received += all.size() - mine.size();
  }
  ringside::Traffic traffic() const override { return traffic_; }

 private:
  ringside::World world_;
  ringside::Store& store_;
  const ringside::CommOptions& comm_;
  std::string prefix_;
  int calls_ = 0;
  ringside::Traffic traffic_;
};

inline ringside::CollectiveEntry OwnCollective() {
  ringside::CollectiveEntry entry;
  entry.name = "own-collective";
  entry.summary = "sums through the store";
  entry.make =
      [](const ringside::CollectiveContext& context) -> std::unique_ptr<ringside::Collective> {
    return std::make_unique<StoreCollective>(context);
  };
  return entry;
}

#endif  // RINGSIDE_CONSUMER_OWN_COLLECTIVE_H_
