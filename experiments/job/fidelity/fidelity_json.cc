#include "ringside/experiments/job/fidelity/fidelity_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace ringside {
namespace {

using nlohmann::json;

constexpr char kSeparator[] = "; ";

json OrNull(const std::optional<double>& value) { return value ? json(*value) : json(); }

json Verdict(const Fidelity& fidelity) {
  if (!fidelity.limited_by.empty()) return "limited";
  return fidelity.not_judged.empty() ? json("ok") : json();
}

json LateJson(const LateWakeUps& late) {
  return {{"p99", late.p99},
          {"worst_second_p99", late.worst_second_p99},
          {"max", late.max},
          {"allowed", late.allowed}};
}

}  // namespace

json FidelityJson(const Fidelity& fidelity) {
  const auto& counters = fidelity.counters;
  return {{"verdict", Verdict(fidelity)},
          {"limited_by", fidelity.limited_by},
          {"not_judged", fmt::format("{}", fmt::join(fidelity.not_judged, kSeparator))},
          {"judged_seconds", fidelity.judged_seconds},
          {"least_idle_share", OrNull(fidelity.least_idle_share)},
          {"median_idle_share", OrNull(fidelity.median_idle_share)},
          {"late_wakeups_ms", fidelity.late ? LateJson(*fidelity.late) : json()},
          {"retransmitted_share", OrNull(fidelity.retransmitted_share)},
          {"unexplained_share", OrNull(fidelity.unexplained_share)},
          {"segments_of_a_packet", fidelity.segments_of_a_packet},
          {"sent_segments", counters ? json(counters->sent_segments) : json()},
          {"dropped_packets", counters ? json(counters->dropped_packets) : json()}};
}

json UnjudgedFidelity(const std::string& reason) {
  Fidelity fidelity;
  fidelity.not_judged.push_back(reason);
  return FidelityJson(fidelity);
}

json WithNetwork(json fidelity, const json& network, bool hosts_must_connect) {
  if (!fidelity.is_object() || !network.is_object()) return fidelity;
  if (hosts_must_connect && network.at("connections").is_null()) {
    auto not_judged = fidelity.at("not_judged").get<std::string>();
    if (!not_judged.empty()) not_judged += kSeparator;
    fidelity["not_judged"] =
        not_judged + "congestion control: no connection between hosts was seen";
    if (fidelity.at("verdict") == "ok") fidelity["verdict"] = nullptr;
  }
  // It is null where no link can be judged.
  if (network.at("ok") == false) {
    fidelity["verdict"] = "limited";
    fidelity["limited_by"].push_back("links: one or more were not as asked");
  }
  return fidelity;
}

std::string FidelityText(const json& fidelity) {
  if (!fidelity.is_object()) return "";
  const json& verdict = fidelity.at("verdict");
  if (verdict == "ok") return "fidelity: ok";
  if (verdict.is_null()) {
    return "fidelity: not judged: " + fidelity.at("not_judged").get<std::string>();
  }
  const auto reasons = fidelity.at("limited_by").get<std::vector<std::string>>();
  return fmt::format("fidelity: limited by {}", fmt::join(reasons, kSeparator));
}

}  // namespace ringside
