#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/spec/resolve/availability.h"
#include "ringside/experiments/system/environment/build_info.h"
#include "ringside/experiments/text/did_you_mean.h"
#include "ringside/experiments/text/printable.h"

namespace ringside {
namespace {

using nlohmann::json;

std::vector<std::string> OptionNames(const StrategyEntry& entry) {
  std::vector<std::string> names;
  for (const OptionDeclaration& option : entry.options) names.push_back(option.name);
  return names;
}

json Strategies(const Catalog& catalog) {
  json rows = json::array();
  for (const StrategyEntry& entry : catalog.strategies()) {
    const std::string unavailable = WhyUnavailable(entry);
    rows.push_back({{"name", entry.name},
                    {"family", FamilyName(entry.traits.family)},
                    {"synchronous", entry.traits.synchronous()},
                    {"servers", entry.traits.has_servers()},
                    {"available", unavailable.empty()},
                    {"unavailable", unavailable},
                    {"keys", OptionNames(entry)},
                    {"summary", entry.summary}});
  }
  return rows;
}

json Models(const Catalog& catalog) {
  const bool libtorch = !ThisBuild().libtorch.empty() && !catalog.has_extensions();
  json rows = json::array();
  for (const ModelEntry& entry : catalog.models()) {
    const std::string unavailable = entry.unavailable ? entry.unavailable() : "";
    rows.push_back({{"name", entry.name},
                    {"needs_libtorch", entry.traits.needs_libtorch},
                    {"needs_gpu", entry.traits.needs_gpu},
                    {"available", unavailable.empty() && (libtorch || entry.make != nullptr)},
                    {"unavailable", unavailable},
                    {"summary", entry.summary}});
  }
  return rows;
}

json Datasets(const Catalog& catalog) {
  json rows = json::array();
  for (const DatasetEntry& entry : catalog.datasets()) {
    rows.push_back({{"name", entry.name},
                    {"needs_directory", entry.needs_directory},
                    {"summary", entry.summary}});
  }
  return rows;
}

struct List {
  std::string_view name;
  json (*rows)(const Catalog& catalog);
};
constexpr List kLists[] = {{"strategies", Strategies}, {"models", Models}, {"datasets", Datasets}};

std::string Remark(const json& row) {
  if (row.contains("family")) {
    if (!row["available"].get<bool>()) return "unavailable";
    return row["synchronous"].get<bool>() ? "synchronous" : "asynchronous";
  }
  if (row.contains("available") && !row["available"].get<bool>()) {
    return row["needs_gpu"].get<bool>() ? "needs a GPU" : "needs libtorch";
  }
  if (row.contains("needs_directory") && row["needs_directory"].get<bool>()) return "--data-dir";
  return "";
}

void PrintRows(const json& rows, const Painter& painter) {
  std::size_t name_width = 0;
  std::size_t remark_width = 0;
  for (const json& row : rows) {
    name_width = std::max(name_width, row["name"].get_ref<const std::string&>().size());
    remark_width = std::max(remark_width, Remark(row).size());
  }
  for (const json& row : rows) {
    const auto& name = row["name"].get_ref<const std::string&>();
    fmt::print("  {}{:{}}  {:<{}}{}{}\n", painter.Bold(name), "", name_width - name.size(),
               Remark(row), remark_width, remark_width > 0 ? "  " : "",
               row["summary"].get_ref<const std::string&>());
    const std::string why = row.value("unavailable", "");
    if (!why.empty()) PrintText(stdout, "  {:{}}  {}\n", "", name_width, why);
  }
}

}  // namespace

int RunListCommand(const Arguments& args, const Catalog& catalog) {
  OptionSet options("list", "the strategies, models and datasets of this build",
                    {{"ringside list strategies", "one table"},
                     {"ringside list", "all three"},
                     {"ringside list models --json", "for programs"}});
  options.TakePositional({"TABLE", "strategies, models or datasets; all if omitted", false});
  options.AddGroup("Output");
  options.Add({"json", "", "one JSON object on stdout", ""});
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  const std::string& wanted = parsed.positional();
  std::vector<std::string_view> names;
  for (const List& list : kLists) names.push_back(list.name);
  if (!wanted.empty() && std::ranges::find(names, wanted) == names.end()) {
    throw UsageError(fmt::format("list: there is no table '{}'{}; there are {}", wanted,
                                 DidYouMean(wanted, names), fmt::join(names, ", ")));
  }
  const Painter painter = Painter::For(stdout, parsed.color());
  json all{{"schema", "ringside.list/1"}};
  for (const List& list : kLists) {
    if (!wanted.empty() && wanted != list.name) continue;
    const json rows = list.rows(catalog);
    all[std::string(list.name)] = rows;
    if (parsed.IsOn("json")) continue;
    if (wanted.empty()) fmt::print("{}:\n", list.name);
    PrintRows(rows, painter);
  }
  if (parsed.IsOn("json")) fmt::print("{}\n", all.dump(2));
  return kExitDone;
}

}  // namespace ringside
