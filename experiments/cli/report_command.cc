#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/demo/demo_choice.h"
#include "ringside/experiments/demo/demo_page.h"
#include "ringside/experiments/report/render/figures.h"
#include "ringside/experiments/report/render/html_report.h"
#include "ringside/experiments/report/render/markdown.h"
#include "ringside/experiments/report/render/study_render.h"
#include "ringside/experiments/report/render/tensorboard.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/sudo_ownership_transfer.h"
#include "ringside/experiments/text/printable.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr char kDemoPage[] = "demo.html";

OptionSet ReportOptions() {
  OptionSet options(
      "report", "page and tables of a directory of results",
      {{"ringside report results/quickstart",
        "the table, and report.html, report.csv, runs.csv and report.json beside the results"},
       {"ringside report results/quickstart --figures --markdown",
        "also figures for a paper and a page for a repository"},
       {"ringside report results/quickstart --json", "the same for programs"}});
  options.TakePositional({"DIR", "what a matrix wrote, or the bundle of one run"});
  options.AddGroup("Output");
  options.Add({"csv", "FILE", "write the raw data there too: a line per run", ""});
  options.Add(
      {"json", "", "one JSON object on stdout instead of the table; =FILE writes it there", ""});
  options.Add({"html", "FILE", "write the page there too", ""});
  options.Add({"figures", "",
               "figures for a paper, as PNG, SVG and PDF in DIR/figures; needs python3-matplotlib",
               ""});
  options.Add({"markdown", "", "a page for a repository, DIR/report.md", ""});
  options.Add({"tensorboard", "",
               "TensorBoard's event files of every run's losses and throughput, in DIR/tensorboard",
               ""});
  options.Add({"no-files", "",
               "leave DIR as it is: no report.html, no report.csv, no runs.csv, no report.json",
               ""});
  options.AddGroup("Statistics");
  options.Add({"target-accuracy", "A",
               "what \"time to target\" means: 0.97 or 97% (95 % of the best final accuracy of a "
               "synchronous strategy)",
               ""});
  return options;
}

StudyOptions StudyOptionsOf(const ParsedOptions& parsed) {
  StudyOptions options;
  const std::string& target = parsed.Get("target-accuracy");
  if (target.empty()) return options;
  try {
    options.target_accuracy = ParseFraction(target);
  } catch (const ConfigError& error) {
    throw UsageError(fmt::format("--target-accuracy: {}", error.what()));
  }
  if (*options.target_accuracy <= 0 || *options.target_accuracy > 1) {
    throw UsageError(
        fmt::format("--target-accuracy {}: must be more than 0 and at most 1", target));
  }
  return options;
}

/// The pictures of the Markdown page: one file format of each figure.
std::vector<std::string> PicturesOf(const std::vector<std::string>& figures) {
  std::vector<std::string> pictures;
  for (const std::string& figure : figures) {
    const std::string name = fs::path(figure).filename().string();
    if (name.ends_with("-double.svg")) pictures.push_back("figures/" + name);
  }
  return pictures;
}

/// Writes files one after the other. Reports a file that cannot be written or whose tool is
/// missing, and goes on with the next one.
class Writer {
 public:
  void Try(const std::function<void()>& write) {
    try {
      write();
    } catch (const MissingBackendError&) {
      missing_ = std::current_exception();
    } catch (const Error& error) {
      PrintText(stderr, "ringside: not written: {}\n", error.what());
      failed_ = true;
    }
  }
  void File(const fs::path& path, const std::function<std::string()>& content) {
    Try([&] { WriteFileAtomically(path.string(), content()); });
  }
  bool failed() const { return failed_; }
  /// Throws the `MissingBackendError` of a file whose tool was missing.
  void RethrowMissing() const {
    if (missing_) std::rethrow_exception(missing_);
  }

 private:
  bool failed_ = false;
  std::exception_ptr missing_;
};

/// Writes a page of two recorded runs; false: no run has a record.
bool WriteDemo(Writer& writer, const StudyInput& study, const fs::path& directory) {
  const std::vector<fs::path> bundles = ChooseDemoRuns(study);
  bool written = false;
  if (bundles.empty()) return written;
  writer.File(directory / kDemoPage, [&] {
    std::string page = RenderDemoPage(ReadRecordedRuns(bundles), {});
    if (const std::string advice = PageSizeAdvice(page); !advice.empty()) {
      PrintText(stderr, "{}: {}\n", (directory / kDemoPage).string(), advice);
    }
    written = true;
    return page;
  });
  return written;
}

void WriteFiles(Writer& writer, const StudyTable& table, const fs::path& directory,
                const std::string& json) {
  writer.File(directory / "report.csv", [&] { return RenderCsv(table); });
  writer.File(directory / "runs.csv", [&] { return RenderRunsCsv(table); });
  writer.File(directory / "report.json", [&] { return json; });
  writer.File(directory / "report.html", [&] { return RenderHtml(table); });
}

bool LiesIn(const fs::path& file, const fs::path& directory) {
  std::error_code none_such;
  return fs::equivalent(fs::absolute(file).parent_path(), directory, none_such);
}

/// Writes the files that the caller named.
void WriteNamed(Writer& writer, const ParsedOptions& parsed, const StudyTable& table,
                const fs::path& directory, const std::string& json) {
  const std::string& csv = parsed.Get("csv");
  if (!csv.empty()) writer.File(csv, [&] { return RenderRunsCsv(table); });
  const std::string& html = parsed.Get("html");
  if (!html.empty()) {
    StudyTable named = table;
    if (!LiesIn(html, directory)) named.demo_page.clear();  // it lies beside report.html
    writer.File(html, [&] { return RenderHtml(named); });
  }
  // "--json" alone prints the report; "--json=FILE" writes it to FILE.
  const std::string& json_to = parsed.Get("json");
  if (!json_to.empty() && json_to != "true") writer.File(json_to, [&] { return json; });
}

/// Writes the other wanted files. Says on stderr where they are.
void WriteExtras(Writer& writer, const ParsedOptions& parsed, const StudyTable& table,
                 const fs::path& directory) {
  std::vector<std::string> figures;
  if (parsed.IsOn("figures")) {
    const std::string path = (directory / "figures").string();
    writer.Try([&] {
      figures = WriteFigures((directory / "report.json").string(), path);
      PrintText(stderr, "figures: {} files in {}\n", figures.size(), path);
    });
  }
  if (parsed.IsOn("markdown")) {
    const std::string path = (directory / "report.md").string();
    writer.Try([&] {
      WriteFileAtomically(path, RenderMarkdown(table, PicturesOf(figures)));
      PrintText(stderr, "markdown: {}\n", path);
    });
  }
  if (parsed.IsOn("tensorboard")) {
    const std::string path = (directory / "tensorboard").string();
    writer.Try([&] {
      PrintText(stderr, "tensorboard: {} event files in {}\n", WriteTensorBoard(table, path), path);
    });
  }
}

void RefuseExtrasWithoutFiles(const ParsedOptions& parsed) {
  if (!parsed.IsOn("no-files")) return;
  for (const char* extra : {"figures", "markdown", "tensorboard"}) {
    if (!parsed.IsOn(extra)) continue;
    throw UsageError(fmt::format("--{} writes into DIR, which --no-files leaves as it is", extra));
  }
}

}  // namespace

int RunReportCommand(const Arguments& args, const Catalog& catalog) {
  const OptionSet options = ReportOptions();
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  RefuseExtrasWithoutFiles(parsed);
  const fs::path directory = parsed.positional();
  const StudyOptions chosen = StudyOptionsOf(parsed);
  const StudyInput study = ReadStudy(directory, catalog);
  StudyTable table = MakeStudyTable(study, chosen);
  const SudoOwnershipTransfer ownership(directory, CurrentEnvironment());
  Writer writer;
  if (!parsed.IsOn("no-files") && WriteDemo(writer, study, directory)) table.demo_page = kDemoPage;
  const std::string json = RenderJson(table).dump(2) + "\n";
  if (!parsed.IsOn("no-files")) WriteFiles(writer, table, directory, json);
  WriteNamed(writer, parsed, table, directory, json);
  WriteExtras(writer, parsed, table, directory);
  // The files are already written, so a reader that closes the pipe early does not prevent them.
  if (parsed.Get("json") == "true") {
    fmt::print("{}", json);
  } else {
    PrintText(stdout, "{}", RenderText(table));
  }
  std::fflush(stdout);
  // The report lacks the damaged results. The exit code tells this to scripts.
  bool damaged = false;
  for (const BundleProblem& problem : table.problems) {
    PrintText(stderr, "ringside: left out {}: {}\n", problem.directory, problem.cause);
    damaged = damaged || problem.damaged;
  }
  writer.RethrowMissing();
  return damaged || writer.failed() ? kExitFailed : kExitDone;
}

}  // namespace ringside
