#include "ring/links.h"

#include "ring/add_into.h"

namespace ringside {

void Links::ReceiveAdd(int peer, std::span<std::byte> data, std::span<std::byte> scratch) {
  const auto incoming = scratch.first(data.size());
  Receive(peer, incoming);
  AddInto(data, incoming);
}

}  // namespace ringside
