#include "ringside/experiments/report/render/tensorboard.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "ringside/experiments/report/render/tensorboard_event.pb.h"
#include "ringside/experiments/report/runs/whole_number.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/trusted_path.h"
#include "ringside/experiments/text/json_depth.h"

namespace ringside {
namespace {

using nlohmann::json;
using tensorboard::Event;

constexpr char kEventsPrefix[] = "events.out.tfevents.";
constexpr char kEventsSuffix[] = ".ringside";
constexpr std::uint32_t kCastagnoli = 0x82F63B78;  // reflected
constexpr std::uint32_t kMaskDelta = 0xA282EAD8;

constexpr std::array<std::uint32_t, 256> MakeCrcTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kCastagnoli : 0);
    table[i] = crc;
  }
  return table;
}

// TensorFlow stores a masked CRC, because the CRC of data that contains its own CRC is a bad check.
std::uint32_t Masked(std::uint32_t crc) { return (crc >> 15 | crc << 17) + kMaskDelta; }

template <typename Integer>
std::string LittleEndian(Integer value) {
  std::string out;
  for (std::size_t i = 0; i < sizeof(value); ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}

// The seconds of a time such as "2026-11-21T10:00:00Z"; 0 for any other text.
double SecondsSince1970(const std::string& time) {
  std::tm parts{};
  if (::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr) return 0;
  return static_cast<double>(::timegm(&parts));
}

// A name made safe as one part of a path: it cannot leave its directory.
std::string SafeName(const std::string& name) {
  std::string out;
  for (const char c : name.substr(0, 100)) {
    const bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '=' || (c == '.' && !out.empty());
    out += safe ? c : '_';
  }
  return out.empty() ? "_" : out;
}

std::optional<double> Number(const json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

/// The records of one run's event file.
class EventFile {
 public:
  EventFile(double started, double samples_per_step)
      : started_(started), samples_per_step_(samples_per_step) {
    Event version;
    version.set_wall_time(started);
    version.set_file_version("brain.Event:2");
    records_ = TfRecord(version.SerializeAsString());
  }

  /// Adds a line of metrics.jsonl.
  void Add(const json& line) {
    if (!line.is_object()) return;
    const json kind = line.value("kind", json());
    if (kind == "step") AddStep(line);
    if (kind == "evaluation") AddEvaluation(line);
  }

  bool empty() const { return empty_; }
  const std::string& records() const { return records_; }

 private:
  void AddStep(const json& line) {
    const auto step = WholeNumber<std::int64_t>(Number(line, "step").value_or(0) + 1);
    const double step_ms = Number(line, "step_ms").value_or(0);
    seconds_ += step_ms / 1000;
    Event event = At(step);
    AddScalar(event, "loss/train", Number(line, "loss"));
    if (step_ms > 0) {
      AddScalar(event, "time/step_ms", step_ms);
      AddScalar(event, "time/exposed_comm_ms", Number(line, "exposed_comm_ms"));
      AddScalar(event, "throughput/samples_per_s", samples_per_step_ / step_ms * 1000);
    }
    Write(event);
  }

  void AddEvaluation(const json& line) {
    Event event = At(WholeNumber<std::int64_t>(Number(line, "step").value_or(0)));
    AddScalar(event, "loss/held_out", Number(line, "loss"));
    AddScalar(event, "accuracy/held_out", Number(line, "accuracy"));
    Write(event);
  }

  Event At(std::int64_t step) const {
    Event event;
    event.set_wall_time(started_ + seconds_);
    event.set_step(step);
    return event;
  }

  static void AddScalar(Event& event, const char* tag, const std::optional<double>& value) {
    if (!value) return;
    auto* scalar = event.mutable_summary()->add_value();
    scalar->set_tag(tag);
    scalar->set_simple_value(static_cast<float>(*value));
  }

  void Write(const Event& event) {
    if (event.summary().value().empty()) return;
    records_ += TfRecord(event.SerializeAsString());
    empty_ = false;
  }

  double started_;
  double samples_per_step_;
  double seconds_ = 0;
  bool empty_ = true;
  std::string records_;
};

std::string RunDirectory(const StudyCell& cell, const StudyRun& run) {
  std::string layout = fmt::format("{}-workers", cell.workers);
  if (cell.servers > 0) {
    layout += fmt::format("-{}-{}", cell.servers, cell.colocated ? "co-located" : "servers");
  }
  // Repeated runs, and runs of different studies, can share a run id. Their directories differ.
  const std::string bundle =
      std::filesystem::absolute(run.directory).lexically_normal().filename().string();
  return fmt::format("{}/{}/{}", SafeName(cell.strategy), layout,
                     SafeName(bundle.empty() ? run.run_id : bundle));
}

// Removes other exports of the same run: one with another start time would double its curves.
void RemoveOtherEvents(const std::string& directory, const std::string& name) {
  std::vector<std::filesystem::path> others;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string other = entry.path().filename().string();
    const bool events = other.starts_with(kEventsPrefix) && other.ends_with(kEventsSuffix);
    if (events && other != name && entry.is_regular_file()) others.push_back(entry.path());
  }
  for (const auto& other : others) RemoveFile(other.string());
}

bool WriteRun(const StudyCell& cell, const StudyRun& run, const std::string& directory) {
  const double started = SecondsSince1970(run.started);
  EventFile events(started, static_cast<double>(cell.global_batch));
  ForEachMetricsLine(run.directory + "/metrics.jsonl", [&](std::string_view line) {
    if (IsTooDeepJson(line)) return;
    events.Add(json::parse(line, nullptr, false));  // a killed run's last line may be cut off
  });
  if (events.empty()) return false;
  const std::string path = directory + "/" + RunDirectory(cell, run);
  MakeDirectories(path);
  const std::string name = fmt::format("{}{:010.0f}{}", kEventsPrefix, started, kEventsSuffix);
  RemoveOtherEvents(path, name);
  WriteFileAtomically(path + "/" + name, events.records());
  return true;
}

}  // namespace

std::uint32_t Crc32c(std::string_view data) {
  static constexpr std::array<std::uint32_t, 256> kTable = MakeCrcTable();
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : data) crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return ~crc;
}

std::string TfRecord(std::string_view data) {
  const std::string length = LittleEndian(static_cast<std::uint64_t>(data.size()));
  return length + LittleEndian(Masked(Crc32c(length))) + std::string(data) +
         LittleEndian(Masked(Crc32c(data)));
}

int WriteTensorBoard(const StudyTable& table, const std::string& directory) {
  int files = 0;
  for (const StudyCell& cell : table.cells) {
    for (const StudyRun& run : cell.results) files += WriteRun(cell, run, directory) ? 1 : 0;
  }
  return files;
}

}  // namespace ringside
