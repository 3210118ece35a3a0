#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/report.h"
#include "web/assets.h"

namespace sluice::report {
namespace {

Report with(const Chart& chart) {
  return {"Title", "sluice sim", {{"Heading", {"Text."}, {chart}, {}}}};
}

nlohmann::json data_in(const std::string& html) {
  const std::string begin = "<script type=\"application/json\">";
  const std::size_t from = html.find(begin) + begin.size();
  return nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
}

TEST(Page, HoldsTextsTablesAndTheNumbersOfCharts) {
  Chart chart{"Waiting", "load", "s", Scale::Linear, Scale::Log, false, {{"ps", {0.5, 0.8}, {1, 4}}}};
  Report report = with(chart);
  report.sections[0].table = {{"load", "waiting"}, {"0.5", "1"}, {"0.8", "4"}};
  const std::string html = page(report);
  for (const char* part :
       {"<h1>Title</h1>", "<code>sluice sim</code>", "<h2>Heading</h2>", "<p>Text.</p>",
        "<figcaption>Waiting</figcaption>", "<th>load</th>", "<td class=\"number\">0.8</td>"})
    EXPECT_NE(html.find(part), html.npos) << part;
  const auto data = data_in(html);
  EXPECT_EQ(data["y_log"], true);
  EXPECT_EQ(data["series"][0]["name"], "ps");
  EXPECT_EQ(data["series"][0]["y"], (std::vector<double>{1, 4}));
}

// Whoever made a name that ends up in a report: it is text, and never a part of the page.
TEST(Page, NoTextBecomesMarkup) {
  const std::string evil = "</script><script>alert(1)</script><!--\"&";
  Report report{evil,
                evil,
                {{evil,
                  {evil},
                  {{evil, evil, evil, Scale::Linear, Scale::Linear, false, {{evil, {1}, {1}}}}},
                  {{evil}, {evil}}}}};
  const std::string html = page(report);
  EXPECT_EQ(html.find("alert(1)</script>"), html.npos);
  EXPECT_EQ(html.find("<script>alert"), html.npos);
  EXPECT_EQ(html.find("<!--"), html.npos);
  EXPECT_EQ(data_in(html)["series"][0]["name"], evil);
}

TEST(Page, ReplacesWhatIsNoText) {
  const std::string html = page({"a\xFF z", "", {}});
  EXPECT_NE(html.find("a\uFFFD z"), html.npos);
  EXPECT_EQ(html.find('\xFF'), html.npos);
}

TEST(Page, LeavesOutWhatAScaleCannotShow) {
  const double infinity = std::numeric_limits<double>::infinity();
  Chart chart{
      "", "", "", Scale::Linear, Scale::Log, true, {{"s", {1, 2, 3, 4, infinity}, {1, 0, -1, infinity, 2}}}};
  EXPECT_EQ(data_in(page(with(chart)))["series"][0]["x"], std::vector<double>{1});
  chart.y_scale = Scale::Linear;
  EXPECT_EQ(data_in(page(with(chart)))["series"][0]["x"], (std::vector<double>{1, 2, 3}));
}

TEST(Page, NeedsNothingFromAnywhere) {
  const std::string html = page(with({"", "", "", Scale::Linear, Scale::Linear, false, {{"s", {1}, {1}}}}));
  EXPECT_NE(html.find("default-src 'none'"), html.npos);
  for (const char* link : {" src=", "href=", "url(", "@import"})
    EXPECT_EQ(html.find(link), html.npos) << link;
  EXPECT_NE(html.find(web::chart_script()), html.npos);
}

}  // namespace
}  // namespace sluice::report
