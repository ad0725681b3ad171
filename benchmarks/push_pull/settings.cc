#include "benchmarks/push_pull/settings.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <sstream>
#include <string_view>

#include "ringside/common/base/errors.h"

namespace ringside::push_pull {
namespace {

constexpr std::array<std::string_view, 3> kContenders{"ringside", "protobuf", "sockets"};

std::vector<std::string> ParseTransports(const std::string& text) {
  const TransportTable known;
  std::vector<std::string> transports;
  std::istringstream names(text);
  for (std::string name; std::getline(names, name, ',');) {
    if (known.Find(name) == nullptr) throw UsageError("no transport is called " + name);
    transports.push_back(name);
  }
  return transports;
}

}  // namespace

Settings ParseSettings(int argc, char** argv) {
  Settings settings;
  const std::map<std::string, std::function<void(const std::string&)>> flags{
      {"--workers", [&](const std::string& value) { settings.workers = std::stoi(value); }},
      {"--servers", [&](const std::string& value) { settings.servers = std::stoi(value); }},
      {"--mib", [&](const std::string& value) { settings.mib = std::stoul(value); }},
      {"--bucket-mib", [&](const std::string& value) { settings.bucket_mib = std::stoul(value); }},
      {"--rounds", [&](const std::string& value) { settings.rounds = std::stoi(value); }},
      {"--transport",
       [&](const std::string& value) { settings.transports = ParseTransports(value); }},
      {"--only", [&](const std::string& value) { settings.only = value; }}};
  for (int i = 1; i < argc; i += 2) {
    const auto flag = flags.find(argv[i]);
    if (flag == flags.end() || i + 1 == argc) {
      throw UsageError(std::string("unknown flag, or one without a value: ") + argv[i]);
    }
    flag->second(argv[i + 1]);
  }
  if (!settings.only.empty() &&
      std::ranges::find(kContenders, settings.only) == kContenders.end()) {
    throw UsageError("--only: nothing is called " + settings.only);
  }
  if (settings.servers < 1 || settings.bucket_mib < 1) {
    throw UsageError("--servers and --bucket-mib: give at least 1");
  }
  if (settings.Has("sockets") && settings.PartOf(0).size == 0) {
    throw UsageError("--servers: more servers than buckets");
  }
  return settings;
}

Settings::Part Settings::PartOf(int server) const {
  const std::size_t bucket = bucket_elements();
  const std::size_t buckets = (elements() + bucket - 1) / bucket;
  const auto begin = [&](int index) {
    const auto first =
        buckets * static_cast<std::size_t>(index) / static_cast<std::size_t>(servers);
    return std::min(first * bucket, elements());
  };
  return {begin(server), begin(server + 1) - begin(server)};
}

}  // namespace ringside::push_pull
