#include "ringside/experiments/report/render/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "ringside/common/core/errors.h"
#include "ringside/experiments/report/render/page_assets.h"
#include "ringside/experiments/report/render/study_render.h"
#include "ringside/experiments/system/sha256.h"

namespace ringside {
namespace {

using nlohmann::json;

std::string_view TextOf(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// RFC 4648, with padding.
std::string Base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group =
          group << 8 | (i + k < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0U);
    }
    const std::size_t left = std::min<std::size_t>(bytes.size() - i, 3);
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= left ? kDigits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

// The name of an inline script in a Content-Security-Policy: 'sha256-...'.
std::string ScriptHash(std::string_view script) {
  return fmt::format("'sha256-{}'", Base64(Sha256(std::as_bytes(std::span(script)))));
}

// Plotly sets style attributes, and its "download" button makes images.
std::string Policy(std::string_view script, std::string_view plotly) {
  return fmt::format(
      "default-src 'none'; script-src {} {}; style-src 'unsafe-inline'; img-src data: blob:; "
      "base-uri 'none'; form-action 'none'",
      ScriptHash(script), ScriptHash(plotly));
}

// Replaces every {{name}} of the template, but none inside the texts that it inserts.
std::string Fill(std::string_view page, const std::map<std::string_view, std::string_view>& parts) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t open = page.find("{{", at);
    out += page.substr(at, open - at);
    if (open == std::string_view::npos) return out;
    const std::size_t close = page.find("}}", open);
    const std::string_view name = page.substr(open + 2, close - open - 2);
    const auto part = parts.find(name);
    if (part == parts.end()) {
      throw InternalError(fmt::format("the page's template names an unknown part '{}'", name));
    }
    out += part->second;
    at = close + 2;
  }
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

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string ScriptSafeJson(const json& value) {
  // The dump already escapes everything outside ASCII, including the line separators.
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  for (const char c : text) {
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

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
  return Fill(TextOf(PageTemplateBytes()), {{"policy", policy},
                                            {"title", title},
                                            {"style", TextOf(PageStyleBytes())},
                                            {"verdict", verdict},
                                            {"study", study},
                                            {"script", script},
                                            {"plotly", plotly}});
}

}  // namespace ringside
