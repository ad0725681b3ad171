#ifndef RINGSIDE_EXPERIMENTS_REPORT_PAGE_ASSETS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_PAGE_ASSETS_H_

#include <cstdint>
#include <span>

namespace ringside {

/// What the HTML page is made of, embedded by the build (experiments/report/page/CMakeLists.txt).
/// Nothing is read before it is asked for: the executable maps it.
std::span<const std::uint8_t> PageTemplateBytes();
std::span<const std::uint8_t> PageStyleBytes();
std::span<const std::uint8_t> PageScriptBytes();
std::span<const std::uint8_t> PlotlyBytes();
/// scripts/report_figures.py.
std::span<const std::uint8_t> FigureScriptBytes();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_PAGE_ASSETS_H_
