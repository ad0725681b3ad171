#include "ringside/experiments/demo/demo_page.h"

#include <fmt/format.h>

#include "ringside/experiments/demo/page_assets.h"
#include "ringside/experiments/demo/page_data.h"
#include "ringside/experiments/system/environment/build_info.h"
#include "ringside/experiments/web/html_page.h"

namespace ringside {

namespace {

/// Tells two runs of one strategy apart.
void NameByWorkers(std::vector<nlohmann::json>& pages) {
  for (nlohmann::json& page : pages) {
    page["title"] =
        fmt::format("{}, {} workers", page["title"].get<std::string>(), page["workers"].get<int>());
  }
}

}  // namespace

std::string RenderDemoPage(const std::vector<nlohmann::json>& runs, const std::string& command) {
  const BuildInfo build = ThisBuild();
  const nlohmann::json data = {
      {"format", kPageFormat},
      {"made", {{"commit", build.git}, {"version", build.version}, {"command", command}}},
      {"runs", runs}};
  const std::string_view script = TextOf(DemoPageScriptBytes());
  const std::string policy = fmt::format(
      "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data: blob:; "
      "base-uri 'none'; form-action 'none'",
      ScriptHash(script));
  std::string title = "Ringside";
  for (const nlohmann::json& run : runs) {
    title += (title == "Ringside" ? ": " : " and ") + run.value("title", std::string());
  }
  return FillTemplate(TextOf(DemoPageTemplateBytes()), {{"policy", policy},
                                                        {"title", EscapeHtml(title)},
                                                        {"style", TextOf(DemoPageStyleBytes())},
                                                        {"data", ScriptSafeJson(data)},
                                                        {"script", script}});
}

std::string RenderDemoPage(const std::vector<RecordedRun>& runs, const PageSteps& steps) {
  std::vector<nlohmann::json> pages;
  std::string command = "ringside demo";
  for (const RecordedRun& run : runs) {
    pages.push_back(PageRun(run, ChooseWindow(run, steps)));
    command.append(" ").append(run.directory.string());
  }
  if (pages.size() == 2 && pages[0]["title"] == pages[1]["title"]) NameByWorkers(pages);
  return RenderDemoPage(pages, command);
}

std::string PageSizeAdvice(const std::string& page) {
  if (page.size() <= kMostPageBytes) return {};
  return fmt::format(
      "the page has {:.1f} MB, more than {:.0f} MB, so a browser may be slow: a step of it has "
      "very many events. Begin with another step (ringside demo RUN --steps N), or record a run "
      "with fewer buckets (--bucket-mb) or workers",
      static_cast<double>(page.size()) / 1e6, static_cast<double>(kMostPageBytes) / 1e6);
}

std::vector<RecordedRun> ReadRecordedRuns(const std::vector<std::filesystem::path>& bundles) {
  std::vector<RecordedRun> runs;
  for (const std::filesystem::path& bundle : bundles) runs.push_back(ReadRecordedRun(bundle));
  return runs;
}

}  // namespace ringside
