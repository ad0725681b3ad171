// How exact emulated networks are and what they cost: the goodput of every link over 1448/1514 of
// the requested rate, the time to build and remove eight hosts, and what many cycles leave behind.
// Prints a line of JSON for each.
//
// usage: lab_benchmark [hosts=8] [rounds=5] [cycles=200]
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/lab/calibration.h"
#include "ringside/experiments/lab/emulation_support.h"
#include "ringside/experiments/lab/lab.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Options {
  int hosts = 8;
  int rounds = 5;
  int cycles = 200;
};

Options Read(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    int* value = name == "hosts"    ? &options.hosts
                 : name == "rounds" ? &options.rounds
                 : name == "cycles" ? &options.cycles
                                    : nullptr;
    const std::string_view text = equals == word.npos ? "" : word.substr(equals + 1);
    if (value == nullptr ||
        std::from_chars(text.data(), text.data() + text.size(), *value).ec != std::errc()) {
      fmt::print(stderr, "usage: lab_benchmark [hosts=8] [rounds=5] [cycles=200]\n");
      std::exit(2);
    }
  }
  return options;
}

double Milliseconds(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

NetworkPlan Plan(const std::string& rate, int hosts) {
  return PlanNetwork(ParseNetwork(rate), hosts, 0);
}

void PrintAccuracy(const std::string& rate, int hosts, int rounds) {
  std::vector<double> shares;
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const Lab lab(Plan(rate, hosts));
    const Clock::time_point begin = Clock::now();
    const std::vector<LinkCalibration> links = CalibrateLinks(lab);
    times.push_back(Milliseconds(begin));
    for (const LinkCalibration& link : links) {
      shares.push_back(link.sent_bytes_per_s / link.expected_bytes_per_s);
      shares.push_back(link.received_bytes_per_s / link.expected_bytes_per_s);
    }
  }
  const auto [least, most] = std::ranges::minmax(shares);
  fmt::print(
      "{{\"rate\": \"{}\", \"hosts\": {}, \"measurements\": {}, \"share_of_goodput\": "
      "{{\"median\": "
      "{:.4f}, \"min\": {:.4f}, \"max\": {:.4f}}}, \"calibration_ms\": {:.0f}}}\n",
      rate, hosts, shares.size(), Median(shares), least, most, Median(times));
  std::fflush(stdout);
}

/// Network namespaces that a process of this machine is in or has open, and devices of our own one.
std::set<std::string> Traces() {
  std::set<std::string> traces;
  std::error_code ignored;
  for (const auto& process : fs::directory_iterator("/proc", ignored)) {
    const fs::path space = fs::read_symlink(process.path() / "ns/net", ignored);
    if (!space.empty()) traces.insert(space);
    for (const auto& file : fs::directory_iterator(process.path() / "fd", ignored)) {
      const std::string target = fs::read_symlink(file.path(), ignored);
      if (target.starts_with("net:[")) traces.insert(target);
    }
  }
  for (const auto& device : fs::directory_iterator("/sys/class/net", ignored)) {
    traces.insert("device " + device.path().filename().string());
  }
  for (const auto& named : fs::directory_iterator("/run/netns", ignored)) {
    traces.insert("named " + named.path().filename().string());
  }
  return traces;
}

void PrintCycles(int hosts, int cycles) {
  const std::set<std::string> before = Traces();
  std::vector<double> builds;
  std::vector<double> removals;
  for (int cycle = 0; cycle < cycles; ++cycle) {
    Clock::time_point begin = Clock::now();
    auto lab = std::make_unique<Lab>(Plan("1Gbps", hosts));
    builds.push_back(Milliseconds(begin));
    begin = Clock::now();
    lab.reset();
    removals.push_back(Milliseconds(begin));
  }
  std::vector<std::string> left;
  std::ranges::set_difference(Traces(), before, std::back_inserter(left));
  fmt::print(
      "{{\"hosts\": {}, \"cycles\": {}, \"build_ms\": {{\"median\": {:.1f}, \"max\": {:.1f}}}, "
      "\"remove_ms\": {{\"median\": {:.1f}, \"max\": {:.1f}}}, \"left_behind\": {}}}\n",
      hosts, cycles, Median(builds), std::ranges::max(builds), Median(removals),
      std::ranges::max(removals), nlohmann::json(left).dump());
}

int Main(const Options& options) {
  for (const char* rate : {"50Mbps", "100Mbps", "500Mbps", "1Gbps", "2Gbps"}) {
    if (options.rounds > 0) PrintAccuracy(rate, options.hosts, options.rounds);
  }
  if (options.cycles > 0) PrintCycles(options.hosts, options.cycles);
  return 0;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  try {
    const ringside::Options options = ringside::Read(argc, argv);
    if (const std::string reason = ringside::WhyNoLab(ringside::ParseNetwork("1Gbps"));
        !reason.empty()) {
      throw ringside::MissingBackendError(reason);
    }
    return ringside::Main(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "lab_benchmark: {}\n", error.what());
    return 1;
  }
}
