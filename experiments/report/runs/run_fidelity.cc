#include "ringside/experiments/report/runs/run_fidelity.h"

#include "ringside/experiments/report/runs/whole_number.h"

namespace ringside {
namespace {

using nlohmann::json;

std::optional<double> Number(const json& object, const char* pointer) {
  const json::json_pointer at(pointer);
  if (!object.contains(at) || !object[at].is_number()) return std::nullopt;
  return object[at].get<double>();
}

std::optional<int> Count(const json& object, const char* pointer) {
  const std::optional<double> number = Number(object, pointer);
  return number ? std::optional<int>(WholeNumber<int>(*number)) : std::nullopt;
}

std::string Text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::string> Texts(const json& object, const char* key) {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return texts;
  for (const json& text : *found) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

const json* ObjectOf(const json& summary, const char* key) {
  const auto found = summary.find(key);
  return found != summary.end() && found->is_object() ? &*found : nullptr;
}

FidelityVerdict VerdictIn(const json& fidelity) {
  const std::string verdict = Text(fidelity, "verdict");
  if (verdict == "ok") return FidelityVerdict::kOk;
  return verdict == "limited" ? FidelityVerdict::kLimited : FidelityVerdict::kNotJudged;
}

}  // namespace

const char* FidelityName(FidelityVerdict verdict) {
  switch (verdict) {
    case FidelityVerdict::kOk:
      return "ok";
    case FidelityVerdict::kLimited:
      return "limited";
    case FidelityVerdict::kNotJudged:
      return "not judged";
  }
  return "";
}

std::optional<RunDilation> ReadDilation(const json& summary) {
  const json* record = ObjectOf(summary, "dilation");
  if (record == nullptr) return std::nullopt;
  RunDilation dilation;
  dilation.factor = Number(*record, "/factor").value_or(1);
  dilation.asked = Text(*record, "asked");
  dilation.cores = Count(*record, "/cores");
  dilation.hosts = Count(*record, "/hosts");
  dilation.equivalent_cores_per_host = Number(*record, "/equivalent_cores_per_host");
  dilation.wall_step_ms = Number(*record, "/wall_step_ms");
  dilation.scaled = Texts(*record, "scaled");
  dilation.not_scaled = Texts(*record, "not_scaled");
  return dilation;
}

std::optional<RunFidelity> ReadFidelity(const json& summary) {
  const json* record = ObjectOf(summary, "fidelity");
  if (record == nullptr) return std::nullopt;
  RunFidelity fidelity;
  fidelity.verdict = VerdictIn(*record);
  fidelity.limited_by = Texts(*record, "limited_by");
  fidelity.not_judged = Text(*record, "not_judged");
  fidelity.judged_seconds = Number(*record, "/judged_seconds");
  fidelity.least_idle_share = Number(*record, "/least_idle_share");
  fidelity.median_idle_share = Number(*record, "/median_idle_share");
  fidelity.late_wakeups_worst_ms = Number(*record, "/late_wakeups_ms/worst_second_p99");
  fidelity.late_wakeups_allowed_ms = Number(*record, "/late_wakeups_ms/allowed");
  fidelity.retransmitted_share = Number(*record, "/retransmitted_share");
  fidelity.dropped_packets = Number(*record, "/dropped_packets");
  return fidelity;
}

}  // namespace ringside
