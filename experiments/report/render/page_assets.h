#ifndef RINGSIDE_EXPERIMENTS_REPORT_RENDER_PAGE_ASSETS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RENDER_PAGE_ASSETS_H_

#include <cstdint>
#include <span>

namespace ringside {

/// The parts of the HTML page. The build embeds them (experiments/report/page/CMakeLists.txt). They
/// are mapped with the executable and read from disk at first use only.
std::span<const std::uint8_t> PageTemplateBytes();
std::span<const std::uint8_t> PageStyleBytes();
std::span<const std::uint8_t> PageScriptBytes();
std::span<const std::uint8_t> PlotlyBytes();
/// scripts/report_figures.py.
std::span<const std::uint8_t> FigureScriptBytes();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RENDER_PAGE_ASSETS_H_
