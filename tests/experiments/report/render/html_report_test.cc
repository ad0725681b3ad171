#include "ringside/experiments/report/render/html_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "ringside/experiments/report/render/study_render.h"
#include "ringside/experiments/system/files/sha256.h"
#include "tests/experiments/report/synthetic_study.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

std::string Between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t from = text.find(open) + open.size();
  return text.substr(from, text.find(close, from) - from);
}

StudyTable Hostile() {
  StudyTable table;
  table.name = HostileNames().front();
  for (const std::string& name : HostileNames()) {
    table.failed.push_back({name, name, "failed", name + "\xE2\x80\xA8"});
    table.verdict.caveats.push_back(name);
  }
  table.verdict.sentence = HostileNames()[3];
  return table;
}

TEST(HtmlReport, NothingInAStudyEndsAnElement) {
  const std::string plain = RenderHtml(StudyTable{});
  const std::string hostile = RenderHtml(Hostile());
  for (const char* what : {"<script", "</script", "<!--", "<img", "<b>"}) {
    EXPECT_EQ(Count(hostile, what), Count(plain, what)) << what;
  }
  EXPECT_THAT(hostile, HasSubstr("<title>&lt;script&gt;alert(1)&lt;/script&gt;</title>"));
  EXPECT_THAT(hostile, Not(HasSubstr("\xE2\x80\xA8")));
}

TEST(HtmlReport, HoldsTheStudyAsJson) {
  const StudyTable table = Hostile();
  const std::string page = RenderHtml(table);
  const std::string inside =
      Between(page, "<script type=\"application/json\" id=\"study\">", "</script>");
  EXPECT_EQ(json::parse(inside), PageStudy(RenderJson(table)));
}

TEST(HtmlReport, AllowsItsOwnScriptsByHashAndNoNetwork) {
  const std::string page = RenderHtml(StudyTable{});
  const std::string policy = Between(page, "Content-Security-Policy\" content=\"", "\"");
  EXPECT_THAT(policy, ::testing::StartsWith("default-src 'none'; script-src 'sha256-"));
  EXPECT_EQ(Count(policy, "'sha256-"), 2);
  for (const char* loose : {"http", "*", "unsafe-eval", "script-src 'unsafe-inline'", "self"}) {
    EXPECT_THAT(policy, Not(HasSubstr(loose)));
  }
  const std::regex remote("<(link|img|iframe|script)[^>]* (src|href)=");
  const std::string head = page.substr(0, page.find("<script"));
  EXPECT_FALSE(std::regex_search(head, remote));
  EXPECT_THAT(page, Not(HasSubstr("<script src")));
}

TEST(HtmlReport, ThinsCurvesToColumnsAndKeepsTheirEnds) {
  json points = json::array();
  for (int i = 1; i <= 150; ++i) points.push_back({{"step", i}, {"loss", 1.0 / i}});
  json report = {{"cells", json::array()}};
  for (int cell = 0; cell < 400; ++cell) {
    report["cells"].push_back({{"results", {{{"curve", points}}}}});
  }
  const json page = PageStudy(report);
  std::size_t all = 0;
  for (const json& cell : page["cells"]) {
    const json& curve = cell["results"][0]["curve"];
    EXPECT_EQ(curve["step"].back(), 150);
    EXPECT_EQ(curve["step"].size(), curve["loss"].size());
    all += curve["step"].size();
  }
  EXPECT_LE(all, kMaxPagePoints);
  EXPECT_GT(all, kMaxPagePoints / 2);
}

TEST(HtmlReport, RoundsToNineDigits) {
  const json page = PageStudy(
      {{"cells", {{{"step_ms", 123.45678912345}, {"small", 1.234567891234e-9}, {"zero", 0.0}}}},
       {"count", 1234567890123}});
  EXPECT_EQ(page["cells"][0]["step_ms"], 123.456789);
  EXPECT_DOUBLE_EQ(page["cells"][0]["small"].get<double>(), 1.23456789e-9);
  EXPECT_EQ(page["cells"][0]["zero"], 0.0);
  EXPECT_EQ(page["count"], 1234567890123);
}

}  // namespace
}  // namespace ringside
