#ifndef RINGSIDE_EXPERIMENTS_DEMO_PAGE_ASSETS_H_
#define RINGSIDE_EXPERIMENTS_DEMO_PAGE_ASSETS_H_

#include <cstdint>
#include <span>

namespace ringside {

/// The parts of the demo's page. The build embeds them (experiments/demo/page/CMakeLists.txt).
std::span<const std::uint8_t> DemoPageTemplateBytes();
std::span<const std::uint8_t> DemoPageStyleBytes();
std::span<const std::uint8_t> DemoPageScriptBytes();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DEMO_PAGE_ASSETS_H_
