#include "tests/experiments/report/synthetic_study.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/system/files/trusted_path.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using nlohmann::json;

constexpr double kParameterBytes = 25.6e6 * 4;
constexpr double kComputeMs = 150;
constexpr int kSteps = 60;

/// Random numbers that are equal on every machine, unlike those of <random>'s distributions.
class Random {
 public:
  /// A number in [low, high).
  double Between(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) / 9007199254740992.0;
  }

 private:
  std::mt19937_64 engine_{20260101};
};

double CommunicationMs(const RunSpec& spec) {
  const double seconds = kParameterBytes / (spec.link_bits_per_s * 1448 / 1514 / 8);
  const double n = spec.workers;
  if (spec.strategy == "none") return 0;
  if (spec.servers > 0) return 1000 * seconds * n / spec.servers;
  return 1000 * seconds * 2 * (n - 1) / n;
}

json Histogram(const RunSpec& spec, Random& random) {
  json histogram = json::object();
  if (spec.servers == 0) return histogram;
  const int most = spec.strategy == "ps-async" ? 2 * spec.workers - 1 : 1;
  for (int behind = 0; behind < most; ++behind) {
    histogram[std::to_string(behind)] = static_cast<int>(random.Between(10, 400));
  }
  return histogram;
}

bool IsLimited(const RunSpec& spec) {
  if (spec.link_bits_per_s == 3e8) return spec.strategy == "ps-sync" && spec.workers == 8;
  return spec.link_bits_per_s == 1e9 && spec.strategy == "ring" && spec.workers == 4 &&
         spec.repetition == 1;
}

json Dilation(const RunSpec& spec, double step_ms) {
  const double factor = spec.link_bits_per_s == 1e9 ? 10 : 1;
  const int hosts = spec.workers + spec.servers;
  return {{"factor", factor},
          {"asked", factor > 1 ? "10" : "1"},
          {"cores", 2},
          {"hosts", hosts},
          {"equivalent_cores_per_host", factor * 2 / hosts},
          {"wall_step_ms", factor * step_ms},
          {"scaled", {"rates of links", "delays of links"}},
          {"not_scaled", {"a host's own round trip", "the kernel's timers of TCP"}}};
}

json Fidelity(const RunSpec& spec) {
  const bool limited = IsLimited(spec);
  json limits = json::array();
  if (limited) limits = {"the processor: 4 % idle in second 3, at least 35 % needed"};
  return {{"verdict", limited ? "limited" : "ok"},
          {"limited_by", limits},
          {"not_judged", ""},
          {"judged_seconds", 12.5},
          {"least_idle_share", limited ? 0.04 : 0.41},
          {"median_idle_share", 0.52},
          {"late_wakeups_ms",
           {{"p99", 0.2}, {"worst_second_p99", 1.3}, {"max", 3.0}, {"allowed", 5.0}}},
          {"retransmitted_share", 0.0004},
          {"sent_segments", 123456},
          {"dropped_packets", 12}};
}

json Summary(const RunSpec& spec, double step_ms, Random& random) {
  const double bound_comm_ms = CommunicationMs(spec);
  const double bound_ms = std::max(kComputeMs, bound_comm_ms);
  const double achievable_ms = 1.02 * bound_ms;
  const double sent = spec.strategy == "none" ? 0 : kParameterBytes * 1.01;
  return {{"schema", "ringside.summary/1"},
          {"run_id", RunId(spec)},
          {"strategy", spec.strategy},
          {"status", "done"},
          {"error", nullptr},
          {"started", "2026-01-01T10:00:00Z"},
          {"workers", spec.workers},
          {"servers", spec.servers},
          {"dedicated_servers", spec.servers},
          {"colocated", false},
          {"transport", spec.servers > 0 ? json("tcp") : json()},
          {"steps", kSteps},
          {"first_step", 0},
          {"step_ms", {{"median", step_ms}, {"p10", step_ms * 0.97}, {"p90", step_ms * 1.06}}},
          {"compute_ms", kComputeMs},
          {"emulated_compute", true},
          {"emulated_compute_ms", kComputeMs},
          {"exposed_comm_ms", std::max(0.0, step_ms - kComputeMs - 2)},
          {"submit_ms", 0.3},
          {"data_ms", 0.1},
          {"codec_ms", 0.0},
          {"samples_per_s", 1000 * static_cast<double>(spec.ResolvedGlobalBatch()) / step_ms},
          {"bytes_sent_per_worker", sent * kSteps},
          {"bytes_received_per_worker", sent * kSteps},
          {"bytes_sent_per_worker_per_step", sent},
          {"bound_bytes_sent_per_worker_per_step", spec.strategy == "none" ? 0 : kParameterBytes},
          {"bound_comm_ms", bound_comm_ms},
          {"bound_ms", bound_ms},
          {"bound_ratio", step_ms / bound_ms},
          {"achievable_ms", achievable_ms},
          {"achievable_ratio", step_ms / achievable_ms},
          {"staleness",
           {{"histogram", Histogram(spec, random)}, {"mean", spec.servers > 0 ? json(1) : json()}}},
          {"final_loss", 0.2},
          {"eval_loss", 0.3},
          {"eval_accuracy", random.Between(0.95, 0.99)},
          {"cpu_seconds",
           {{"workers", 10.0 * spec.workers}, {"servers", spec.servers > 0 ? json(6.5) : json()}}},
          {"peak_rss_bytes", 4e8 * spec.workers},
          {"critical_path",
           {{"compute_ms", kComputeMs},
            {"exposed_comm_ms", std::max(0.0, step_ms - kComputeMs - 9)},
            {"straggler_wait_ms", 5},
            {"server_queue_ms", spec.servers > 0 ? 2 : 0},
            {"codec_ms", 0},
            {"other_ms", 2}}},
          {"dilation", Dilation(spec, step_ms)},
          {"fidelity", Fidelity(spec)},
          {"train_seconds", kSteps * step_ms / 1000},
          {"wall_seconds",
           Dilation(spec, step_ms)["factor"].get<double>() * kSteps * step_ms / 1000 + 1}};
}

bool IsSlowLink(const RunSpec& spec, int host) {
  return spec.strategy == "ring" && spec.workers == 8 && spec.link_bits_per_s == 1e9 &&
         spec.repetition == 0 && host == 3;
}

json Network(const RunSpec& spec, Random& random) {
  const double expected = spec.link_bits_per_s * 1448 / 1514 / 8;
  json links = json::array();
  bool all_ok = true;
  for (int host = 0; host < spec.workers; ++host) {
    const bool ok = !IsSlowLink(spec, host);
    const double share = ok ? 1 : 0.8;
    all_ok = all_ok && ok;
    links.push_back({{"host", "host" + std::to_string(host)},
                     {"rate_bits_per_s", spec.link_bits_per_s},
                     {"expected_bytes_per_s", expected},
                     {"sent_bytes_per_s", share * expected * random.Between(0.985, 1.005)},
                     {"received_bytes_per_s", share * expected * random.Between(0.985, 1.005)},
                     {"ok", ok}});
  }
  return {{"ok", all_ok}, {"links", links}};
}

void WriteMetrics(const std::string& path, double step_ms) {
  std::ofstream out(path);
  for (int step = 0; step < kSteps; ++step) {
    const double loss = 2.3 / (1 + step * 0.1);
    out << json{{"kind", "step"}, {"step", step}, {"step_ms", step_ms}, {"loss", loss}} << '\n';
    if ((step + 1) % 5 != 0) continue;
    out << json{{"kind", "evaluation"},
                {"step", step + 1},
                {"epoch", (step + 1) / 20.0},
                {"train_seconds", (step + 1) * step_ms / 1000},
                {"train_loss", loss},
                {"loss", loss * 1.1},
                {"accuracy", 1 - 0.9 / (1 + step * 0.3)}}
        << '\n';
  }
}

void WriteBundle(const RunSpec& spec, const json& summary, Random& random,
                 const std::string& directory) {
  const std::string bundle = directory + "/" + RunId(spec);
  MakeDirectories(bundle);
  std::ofstream(bundle + "/spec.json") << json(spec);
  std::ofstream(bundle + "/summary.json") << summary;
  std::ofstream(bundle + "/network.json") << Network(spec, random);
  std::ofstream(bundle + "/environment.json")
      << json{{"cpu_model", "a processor"}, {"cores", 2}, {"git", "0123456789ab"}};
  WriteMetrics(bundle + "/metrics.jsonl", summary["step_ms"]["median"].get<double>());
}

RunSpec SpecOf(const std::string& strategy, int workers, double link, int repetition) {
  RunSpec spec(TestCatalog());
  spec.strategy = strategy;
  spec.workers = workers;
  spec.servers = strategy.starts_with("ps-") ? 1 : 0;
  spec.model = "profile:resnet50";
  spec.data = "none";
  spec.batch_per_worker = 32;
  spec.steps = kSteps;
  spec.link_bits_per_s = link;
  spec.repetition = repetition;
  return spec;
}

}  // namespace

std::vector<std::string> HostileNames() {
  return {"<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "=1+1",
          "</script><!--<script>alert(1)//", "<b>bold</b>&amp;&lt;"};
}

void WriteSyntheticStudy(const SyntheticStudy& study, const std::string& directory) {
  Random random;
  for (const double link : study.link_bits_per_s) {
    for (const int workers : study.workers) {
      for (const char* strategy : {"none", "ring", "shm", "ps-sync", "ps-async"}) {
        for (int repetition = 0; repetition < study.repetitions; ++repetition) {
          const RunSpec spec = SpecOf(strategy, workers, link, repetition);
          const double step_ms =
              std::max(kComputeMs, CommunicationMs(spec)) * random.Between(1.01, 1.12);
          WriteBundle(spec, Summary(spec, step_ms, random), random, directory);
        }
      }
    }
  }
  for (const std::string& name : study.hostile_names) {
    for (int repetition = 0; repetition < 4; ++repetition) {
      const RunSpec spec = SpecOf(name, 2, study.link_bits_per_s.back(), repetition);
      json summary = Summary(spec, 200, random);
      if (repetition == 3) {
        summary["status"] = "failed";
        summary["error"] = name;
      }
      WriteBundle(spec, summary, random, directory);
    }
  }
}

}  // namespace ringside
