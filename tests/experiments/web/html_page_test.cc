#include "ringside/experiments/web/html_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

TEST(HtmlPage, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(ScriptSafeJson(nlohmann::json("a\xFF<>&")), "\"a\\ufffd\\u003c\\u003e\\u0026\"");
}

TEST(HtmlPage, FillsATemplateButNotWhatItInserts) {
  EXPECT_EQ(FillTemplate("<{{a}}|{{b}}>", {{"a", "{{b}}"}, {"b", "2"}}), "<{{b}}|2>");
  EXPECT_THROW(FillTemplate("{{c}}", {{"a", ""}}), InternalError);
}

TEST(HtmlPage, EncodesBase64WithPadding) {
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  EXPECT_EQ(Base64(bytes("")), "");
  EXPECT_EQ(Base64(bytes("f")), "Zg==");
  EXPECT_EQ(Base64(bytes("fo")), "Zm8=");
  EXPECT_EQ(Base64(bytes("foobar")), "Zm9vYmFy");
}

}  // namespace
}  // namespace ringside
