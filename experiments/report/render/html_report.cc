#include "ringside/experiments/report/render/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "ringside/experiments/report/render/page_assets.h"
#include "ringside/experiments/report/render/study_render.h"
#include "ringside/experiments/web/html_page.h"

namespace ringside {
namespace {

using nlohmann::json;

// Plotly sets style attributes, and its "download" button makes images.
std::string Policy(std::string_view script, std::string_view plotly) {
  return fmt::format(
      "default-src 'none'; script-src {} {}; style-src 'unsafe-inline'; img-src data: blob:; "
      "base-uri 'none'; form-action 'none'",
      ScriptHash(script), ScriptHash(plotly));
}

// No measurement is exact to nine digits, and rounding to nine digits halves the text.
void RoundNumbers(json& value) {
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number == 0 || !std::isfinite(number)) return;
    const double scale = std::pow(10.0, 8 - std::floor(std::log10(std::abs(number))));
    const double rounded = std::round(number * scale) / scale;
    if (std::isfinite(rounded)) value = rounded;
  } else if (value.is_structured()) {
    for (json& item : value) RoundNumbers(item);
  }
}

// Turns [{step: 1, loss: 2}, ...] into {step: [1, ...], loss: [2, ...]} with at most `keep` points.
// The last point is always kept.
json ColumnsOf(const json& points, std::size_t keep) {
  json columns = json::object();
  if (points.empty()) return columns;
  const std::size_t size = std::min(points.size(), std::max<std::size_t>(keep, 1));
  for (const auto& [key, unused] : points.front().items()) columns[key] = json::array();
  for (std::size_t i = 1; i <= size; ++i) {
    const json& point = points[i * points.size() / size - 1];
    for (const auto& [key, value] : point.items()) columns[key].push_back(value);
  }
  return columns;
}

json* Find(json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

template <typename Each>
void ForRuns(json& report, Each&& each) {
  for (json& cell : report["cells"]) {
    json* runs = Find(cell, "results");
    if (runs == nullptr) continue;
    for (json& run : *runs) each(run);
  }
}

void ThinCurves(json& report) {
  std::size_t curves = 0;
  ForRuns(report, [&](json& run) {
    const json* curve = Find(run, "curve");
    if (curve != nullptr && !curve->empty()) ++curves;
  });
  const std::size_t keep = kMaxPagePoints / std::max<std::size_t>(curves, 1);
  ForRuns(report, [&](json& run) {
    if (json* curve = Find(run, "curve")) *curve = ColumnsOf(*curve, keep);
  });
}

void KeepModelAndData(json& report) {
  for (json& cell : report["cells"]) {
    json* configuration = Find(cell, "configuration");
    if (configuration == nullptr || !configuration->is_object()) continue;
    *configuration = {{"model", configuration->value("model", "")},
                      {"data", configuration->value("data", "")}};
  }
}

}  // namespace

json PageStudy(json report) {
  ThinCurves(report);
  KeepModelAndData(report);
  RoundNumbers(report);
  return report;
}

std::string RenderHtml(const StudyTable& table) {
  const json report = RenderJson(table);
  const std::string study = ScriptSafeJson(PageStudy(report));
  const std::string_view script = TextOf(PageScriptBytes());
  const std::string_view plotly = TextOf(PlotlyBytes());
  const std::string policy = Policy(script, plotly);
  const std::string title = EscapeHtml(table.name);
  const json::json_pointer sentence("/verdict/sentence");
  const std::string verdict =
      EscapeHtml(report.contains(sentence) ? report[sentence].get<std::string>() : "");
  return FillTemplate(TextOf(PageTemplateBytes()), {{"policy", policy},
                                                    {"title", title},
                                                    {"style", TextOf(PageStyleBytes())},
                                                    {"verdict", verdict},
                                                    {"study", study},
                                                    {"script", script},
                                                    {"plotly", plotly}});
}

}  // namespace ringside
