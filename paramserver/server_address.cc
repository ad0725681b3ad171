#include "paramserver/server_address.h"

#include <sys/random.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "common/errors.h"

namespace ringside {
namespace {

constexpr char kUds[] = "uds";
constexpr char kShm[] = "shm";

std::string RandomHex() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw InternalError(std::string("no random bytes: ") + std::strerror(errno));
  }
  std::string hex;
  for (const unsigned byte : bytes) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

}  // namespace

std::string ServerAddress::ToText() const {
  if (transport == PsTransport::kGrpc) return address;
  return std::string(transport == PsTransport::kUds ? kUds : kShm) + " " + host + " " + address;
}

ServerAddress ServerAddress::FromText(const std::string& text) {
  if (text.find(' ') == std::string::npos) return {PsTransport::kGrpc, text};
  std::istringstream words(text);
  std::string kind;
  ServerAddress parsed;
  words >> kind >> parsed.host >> parsed.address;
  if (parsed.address.empty() || (kind != kUds && kind != kShm)) {
    throw CommError("a server", "start", "it has published no address but '" + text + "'");
  }
  parsed.transport = kind == kUds ? PsTransport::kUds : PsTransport::kShm;
  return parsed;
}

bool ServerAddress::IsHere() const {
  return transport != PsTransport::kGrpc || address.starts_with("127.") ||
         address.starts_with("[::1]:");
}

std::string ServerAddress::Place() const {
  if (transport == PsTransport::kGrpc) return "at " + address;
  return std::string("over ") + (transport == PsTransport::kUds ? kUds : kShm);
}

ServerAddress LocalAddress(PsTransport transport) {
  return {transport, "ringside-" + RandomHex(), HostIdentity()};
}

std::string HostIdentity() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat network {};
  stat("/proc/self/ns/net", &network);
  return boot + "." + std::to_string(network.st_ino);
}

}  // namespace ringside
