#include "ringside/common/security/greeting.h"

#include <bit>
#include <cstring>
#include <utility>

namespace ringside {
namespace {

static_assert(std::endian::native == std::endian::little);

/// A greeting as it lies on the wire.
struct RawGreeting {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t index;
  std::array<std::byte, kMacBytes> proof;
};
static_assert(sizeof(RawGreeting) == kGreetingBytes);

RawGreeting Parse(std::span<const std::byte, kGreetingBytes> greeting) {
  RawGreeting raw{};
  std::memcpy(&raw, greeting.data(), greeting.size());
  return raw;
}

}  // namespace

Greeter::Greeter(std::uint32_t magic, std::uint32_t version, HandshakeMac mac)
    : magic_(magic), version_(version), mac_(std::move(mac)) {}

Greeting Greeter::Make(std::uint32_t index, int from, int to) const {
  return std::bit_cast<Greeting>(RawGreeting{
      .magic = magic_, .version = version_, .index = index, .proof = mac_.Make(from, to)});
}

std::string Greeter::FlawOf(std::span<const std::byte, kGreetingBytes> greeting, int from,
                            int to) const {
  const RawGreeting raw = Parse(greeting);
  if (raw.magic != magic_) return "it does not speak this protocol";
  if (raw.version != version_) return "it speaks another version of the protocol";
  if (!mac_.Check(raw.proof, from, to)) return "it does not know the token of this job";
  return {};
}

std::uint32_t Greeter::IndexOf(std::span<const std::byte, kGreetingBytes> greeting) {
  return Parse(greeting).index;
}

}  // namespace ringside
