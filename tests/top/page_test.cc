#include "top/page.h"

#include <gtest/gtest.h>

#include "top/text_width.h"

namespace sluice::top {
namespace {

using namespace std::chrono_literals;

Sample usual() {
  Sample sample;
  sample.taken_at = std::chrono::steady_clock::time_point(100s);
  sample.version = Table({"version"});
  sample.version.add_row({"Sluice 0.1.0"});
  sample.state = Table({"key", "value"});
  sample.state.add_row({"ready", "yes"});
  sample.state.add_row({"paused", "no"});
  sample.lists = Table({"list", "items"});
  sample.lists.add_row({"used_clients", "12"});
  sample.replicas = Table({"name", "role", "pool", "borrowed", "up", "draining", "sessions", "loads",
                           "sv_active", "sv_idle", "lag_ms", "probe_us"});
  sample.replicas.add_row(
      {"r0", "replica", "premium", "yes", "yes", "no", "4", "premium=3,freemium=1", "4", "2", "12", "800"});
  sample.replicas.add_row({"r1", "replica", "mixed", "no", "no", "no", "9", "premium=0,freemium=9", "9", "0",
                           std::nullopt, std::nullopt});
  sample.classes =
      Table({"name", "sessions", "waiting", "replicas", "borrowed", "outcomes", "median_us", "p95_us"});
  sample.classes.add_row({"premium", "3", "0", "2", "1", "own=10,borrowed_mixed=2", "1500", std::nullopt});
  sample.pools = Table({"database", "user", "pool_mode", "cl_active", "cl_waiting", "sv_active", "sv_idle",
                        "maxwait", "maxwait_us"});
  sample.pools.add_row({"shop", "anna", "session", "4", "0", "4", "2", "0", "0"});
  sample.pools.add_row({"shop", "otto", "transaction", "9", "5", "9", "0", "1", "500000"});
  sample.stats =
      Table({"database", "client_login_count", "xact_count", "query_count", "bytes_received", "bytes_sent"});
  sample.stats.add_row({"shop", "10", "100", "1000", "0", "2000000"});
  return sample;
}

std::string text_of(const std::vector<Line>& lines) {
  std::string out;
  for (const Line& line : lines)
    out += line.text + "\n";
  return out;
}

// The line that begins with these words.
std::string line_of(const std::vector<Line>& lines, std::string_view start) {
  for (const Line& line : lines)
    if (line.text.starts_with(start)) return line.text;
  return {};
}

View wide() {
  View view;
  view.columns = 200;
  view.where = "db:6432";
  return view;
}

TEST(Page, ShowsReplicasClassesAndPools) {
  const auto lines = page(usual(), std::nullopt, wide());
  EXPECT_EQ(line_of(lines, "Sluice"), "Sluice 0.1.0  db:6432  ready");
  EXPECT_NE(line_of(lines, "r0").find("premium (borrowed)  up"), std::string::npos) << text_of(lines);
  EXPECT_NE(line_of(lines, "r0").find("12.0 ms  800 us"), std::string::npos) << text_of(lines);
  EXPECT_NE(line_of(lines, "r1").find("mixed               down"), std::string::npos) << text_of(lines);
  EXPECT_NE(line_of(lines, "premium").find("1.5 ms"), std::string::npos) << text_of(lines);
  EXPECT_NE(text_of(lines).find("otto  transaction"), std::string::npos) << text_of(lines);
  EXPECT_NE(text_of(lines).find("1.5 s"), std::string::npos) << text_of(lines);
}

TEST(Page, TakesRatesBetweenTwoSamples) {
  const Sample before = usual();
  EXPECT_NE(line_of(page(before, std::nullopt, wide()), "per second").find("queries -"), std::string::npos);
  Sample now = usual();
  now.taken_at += 2s;
  now.stats =
      Table({"database", "client_login_count", "xact_count", "query_count", "bytes_received", "bytes_sent"});
  now.stats.add_row({"shop", "11", "300", "5000", "0", "22000000"});
  now.classes = Table({"name", "outcomes"});
  now.classes.add_row({"premium", "own=20,borrowed_mixed=4,borrowed_lower=2"});
  const auto lines = page(now, before, wide());
  EXPECT_EQ(line_of(lines, "per second"),
            "per second: sessions 0.5  transactions 100  queries 2000  in 0.0B  out 10.0MB");
  EXPECT_NE(line_of(lines, "premium").find("5.0       2.0"), std::string::npos) << text_of(lines);
}

TEST(Page, HasNoRateWhereACounterWentBack) {
  Sample now = usual();
  now.taken_at += 2s;
  now.stats = Table({"database", "query_count"});
  now.stats.add_row({"shop", "1"});
  EXPECT_NE(line_of(page(now, usual(), wide()), "per second").find("queries -"), std::string::npos);
}

TEST(Page, SortsAsAsked) {
  View view = wide();
  const auto first_replica = [&] {
    const std::string text = text_of(page(usual(), std::nullopt, view));
    return text.find("\nr0") < text.find("\nr1") ? "r0" : "r1";
  };
  EXPECT_STREQ(first_replica(), "r0");
  view.reversed = true;
  EXPECT_STREQ(first_replica(), "r1");
  view.reversed = false;
  view.sort = Sort::Sessions;
  EXPECT_STREQ(first_replica(), "r1");
  view.sort = Sort::Lag;
  EXPECT_STREQ(first_replica(), "r0");
  EXPECT_EQ(next_sort(next_sort(next_sort(Sort::Name))), Sort::Name);
}

TEST(Page, FitsAnyTerminal) {
  for (std::size_t columns = 1; columns < 130; columns += 7) {
    for (std::size_t rows = 1; rows < 40; rows += 3) {
      View view = wide();
      view.columns = columns;
      view.rows = rows;
      const auto lines = page(usual(), usual(), view);
      EXPECT_EQ(lines.size(), rows);
      for (const Line& line : lines)
        EXPECT_LE(width(line.text), columns);
      EXPECT_EQ(lines.back().text, fit("q quit  s sort: name  r reverse  space freeze", columns));
    }
  }
}

TEST(Page, SaysWhatIsWrong) {
  Sample sample = usual();
  sample.state = Table({"key", "value"});
  sample.state.add_row({"ready", "no"});
  sample.state.add_row({"reason", "no server is alive"});
  sample.state.add_row({"paused", "yes"});
  View view = wide();
  view.problem = "server closed the connection";
  const auto lines = page(sample, std::nullopt, view);
  EXPECT_EQ(lines[0].text, "Sluice 0.1.0  db:6432  NOT READY: no server is alive, PAUSED");
  EXPECT_EQ(lines[0].style, Style::Warning);
  EXPECT_NE(text_of(lines).find("server closed the connection"), std::string::npos);
}

TEST(Page, ShowsAnEmptyRouter) {
  const Sample nothing;
  EXPECT_FALSE(page(nothing, nothing, wide()).empty());
}

TEST(Page, ShortensNumbersAndTimes) {
  EXPECT_EQ(short_number(0), "0.0");
  EXPECT_EQ(short_number(9.96), "10");
  EXPECT_EQ(short_number(9999), "9999");
  EXPECT_EQ(short_number(12'340), "12.3k");
  EXPECT_EQ(short_number(4.5e7), "45.0M");
  EXPECT_EQ(short_number(1.2e10), "12.0G");
  EXPECT_EQ(short_time(std::nullopt), "-");
  EXPECT_EQ(short_time(999), "999 us");
  EXPECT_EQ(short_time(2'500'000), "2.5 s");
}

}  // namespace
}  // namespace sluice::top
