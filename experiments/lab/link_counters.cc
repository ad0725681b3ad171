#include "ringside/experiments/lab/link_counters.h"

#include <sstream>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/network/dropped_packets.h"

namespace ringside {
namespace {

// /proc/net is that of the process's first thread, whichever namespace this thread is in.
constexpr char kCounters[] = "/proc/thread-self/net/snmp";
constexpr std::size_t kMostBytes = 64 << 10;

LinkCounters TcpCountersOf(const NetNamespace& where) {
  const NamespaceScope inside(where.fd());
  try {
    return ParseTcpCounters(ReadFile(kCounters, kMostBytes));
  } catch (const DataError& error) {
    throw MissingBackendError(std::string("the segments of a host cannot be counted: ") +
                              error.what());
  }
}

std::vector<std::string> Words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

[[noreturn]] void FailToParse(const std::string& what) {
  throw MissingBackendError(std::string(kCounters) + " has no " + what + " of TCP");
}

}  // namespace

LinkCounters ParseTcpCounters(std::string_view snmp) {
  std::istringstream in{std::string(snmp)};
  std::vector<std::vector<std::string>> lines;  // the names, then the values
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("Tcp:")) lines.push_back(Words(line));
  }
  const auto value = [&](const std::string& name) -> std::uint64_t {
    if (lines.size() != 2 || lines[0].size() != lines[1].size()) FailToParse("names and values");
    for (std::size_t i = 0; i < lines[0].size(); ++i) {
      std::uint64_t number = 0;
      if (lines[0][i] == name && std::istringstream(lines[1][i]) >> number) return number;
    }
    FailToParse(name);
  };
  return {.sent_segments = value("OutSegs"), .retransmitted_segments = value("RetransSegs")};
}

LinkCounters ReadLinkCounters(const Lab& lab) {
  LinkCounters sum;
  for (std::size_t host = 0; host < lab.plan().hosts.size(); ++host) {
    const LinkCounters own = TcpCountersOf(lab.host(static_cast<int>(host)));
    sum.sent_segments += own.sent_segments;
    sum.retransmitted_segments += own.retransmitted_segments;
  }
  const std::vector<const NetNamespace*> nodes = lab.nodes();
  for (std::size_t node = lab.plan().hosts.size(); node < nodes.size(); ++node) {
    sum.dropped_packets += DroppedPackets(*nodes[node]);
  }
  return sum;
}

}  // namespace ringside
