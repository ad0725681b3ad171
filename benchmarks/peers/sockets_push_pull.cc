#include "benchmarks/peers/sockets_push_pull.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace ringside {
namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

void Require(bool worked) {
  if (!worked) throw std::runtime_error("bare sockets over loopback do not work here");
}

/// Returns false when the other end has closed.
bool SendAll(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

bool ReceiveAll(int socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t received = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (received <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(received));
  }
  return true;
}

/// Sends back every bucket until the worker closes.
void Echo(int listener, std::size_t bytes, std::size_t bucket_bytes) {
  const int socket = ::accept(listener, nullptr, nullptr);
  if (socket < 0) return;
  std::vector<std::byte> buffer(bucket_bytes);
  bool is_there = true;
  for (std::size_t begin = 0; is_there;
       begin = begin + bucket_bytes < bytes ? begin + bucket_bytes : 0) {
    const std::span bucket = std::span(buffer).first(std::min(bucket_bytes, bytes - begin));
    is_there = ReceiveAll(socket, bucket) && SendAll(socket, bucket);
  }
  ::close(socket);
}

}  // namespace

SocketsServer::SocketsServer(int workers, std::size_t bytes, std::size_t bucket_bytes)
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  Require(::bind(listener_, any, size) == 0 && ::listen(listener_, workers) == 0 &&
          ::getsockname(listener_, any, &size) == 0);
  port_ = ntohs(address.sin_port);
  for (int worker = 0; worker < workers; ++worker) {
    threads_.emplace_back([this, bytes, bucket_bytes] { Echo(listener_, bytes, bucket_bytes); });
  }
}

SocketsServer::~SocketsServer() {
  ::shutdown(listener_, SHUT_RDWR);  // ends threads that still wait for a worker
  threads_.clear();
  ::close(listener_);
}

SocketsWorker::SocketsWorker(std::span<const Part> parts) : parts_(parts.begin(), parts.end()) {
  for (const Part& part : parts_) {
    const int socket = sockets_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = Loopback(part.port);
    Require(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  }
}

SocketsWorker::~SocketsWorker() {
  for (const int socket : sockets_) ::close(socket);
}

void SocketsWorker::Step(std::span<const float> gradients, std::span<float> parameters) {
  std::atomic<std::size_t> done = 0;
  const auto send = [&](std::size_t part) {
    const auto& [port, begin, size] = parts_[part];
    if (SendAll(sockets_[part], std::as_bytes(gradients.subspan(begin, size)))) ++done;
  };
  const auto receive = [&](std::size_t part) {
    const auto& [port, begin, size] = parts_[part];
    if (ReceiveAll(sockets_[part], std::as_writable_bytes(parameters.subspan(begin, size)))) ++done;
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t part = 0; part < parts_.size(); ++part) threads.emplace_back(send, part);
    for (std::size_t part = 1; part < parts_.size(); ++part) threads.emplace_back(receive, part);
    receive(0);
  }
  Require(done == 2 * parts_.size());
}

}  // namespace ringside
