#ifndef RINGSIDE_TESTS_RING_ALGORITHMS_QUEUE_LINKS_H_
#define RINGSIDE_TESTS_RING_ALGORITHMS_QUEUE_LINKS_H_

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/ring/algorithms/links.h"

namespace ringside {

/// Links between threads that hold exactly the promised window. An algorithm that needs more room
/// blocks, and fails after ten seconds.
class QueueNetwork {
 public:
  void Send(int from, int to, std::span<const std::byte> data) {
    std::unique_lock lock(mutex_);
    Queue& queue = queues_[{from, to}];
    const auto has_room = [&] { return queue.bytes + data.size() <= Links::kLeastWindowBytes; };
    if (!changed_.wait_for(lock, kPatience, has_room)) {
      throw CommError("worker " + std::to_string(to), "sending", "the window stayed full");
    }
    queue.bytes += data.size();
    queue.messages.emplace_back(data.begin(), data.end());
    changed_.notify_all();
  }

  void Receive(int from, int to, std::span<std::byte> data) {
    std::unique_lock lock(mutex_);
    Queue& queue = queues_[{from, to}];
    if (!changed_.wait_for(lock, kPatience, [&] { return !queue.messages.empty(); })) {
      throw CommError("worker " + std::to_string(from), "receiving", "no message came");
    }
    const std::vector<std::byte> message = std::move(queue.messages.front());
    queue.messages.pop_front();
    queue.bytes -= message.size();
    changed_.notify_all();
    if (message.size() != data.size()) throw InternalError("a message of another length");
    std::ranges::copy(message, data.begin());
  }

  /// Messages that nobody received.
  std::size_t left() const {
    std::size_t left = 0;
    for (const auto& [ranks, queue] : queues_) left += queue.messages.size();
    return left;
  }

 private:
  static constexpr std::chrono::seconds kPatience{10};
  struct Queue {
    std::deque<std::vector<std::byte>> messages;
    std::size_t bytes = 0;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, Queue> queues_;  // by (from, to), guarded by mutex_
};

/// One rank's end; counts what it sends and receives.
class QueueLinks : public Links {
 public:
  QueueLinks(QueueNetwork& network, int rank) : network_(network), rank_(rank) {}

  std::size_t window_bytes() const override { return kLeastWindowBytes; }
  void Send(int peer, std::span<const std::byte> data, ChunkPhase) override {
    network_.Send(rank_, peer, data);
    sent_ += data.size();
  }
  void Receive(int peer, std::span<std::byte> data, ChunkPhase) override {
    network_.Receive(peer, rank_, data);
    received_ += data.size();
  }
  std::size_t sent() const { return sent_; }
  std::size_t received() const { return received_; }

 private:
  QueueNetwork& network_;
  int rank_;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_RING_ALGORITHMS_QUEUE_LINKS_H_
