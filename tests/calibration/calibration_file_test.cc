#include "calibration/calibration_file.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/calibration/sample.h"
#include "tests/config/temporary_folder.h"

namespace sluice::calibration {
namespace {

// The first problem, or "" when there is none.
std::string problem_of(const std::string& text) {
  config::Problems problems;
  const auto parsed = parse(text, "c.yaml", problems);
  EXPECT_EQ(parsed.has_value(), problems.empty());
  return problems.empty() ? "" : to_string(problems.front());
}

void expect_near(const Calibration& a, const Calibration& b) {
  ASSERT_EQ(a.hosts, b.hosts);
  ASSERT_EQ(a.routes.size(), b.routes.size());
  for (std::size_t r = 0; r < a.routes.size(); ++r) {
    EXPECT_EQ(a.routes[r].name, b.routes[r].name);
    EXPECT_EQ(a.routes[r].n_serial, b.routes[r].n_serial);
    EXPECT_EQ(a.routes[r].n_serial_source, b.routes[r].n_serial_source);
    ASSERT_EQ(a.routes[r].hosts.size(), b.routes[r].hosts.size());
    for (std::size_t h = 0; h < a.routes[r].hosts.size(); ++h) {
      const RouteOnHost &x = a.routes[r].hosts[h], &y = b.routes[r].hosts[h];
      EXPECT_EQ(x.host, y.host);
      EXPECT_EQ(x.sql, y.sql);
      ASSERT_EQ(x.residual.has_value(), y.residual.has_value());
      if (x.residual) {
        EXPECT_NEAR(x.residual->count(), y.residual->count(), 1e-6);
      }
    }
  }
}

Calibration rounded() {
  Calibration c = sample();
  c.routes[0].hosts[0].sql = Millis(0.25);
  const auto round = [](Measurement& m) {
    for (Millis* value : {&m.median, &m.low, &m.high})
      *value = Millis(std::round(value->count() * 1000) / 1000);
  };
  for (Host& host : c.hosts)
    for (auto* m : {&host.health, &host.connect, &host.select_1})
      round(**m);
  for (Route& route : c.routes)
    for (RouteOnHost& on_host : route.hosts)
      round(on_host.response);
  return c;
}

TEST(CalibrationFile, ReadsWhatItWrites) {
  config::Problems problems;
  const Calibration written = rounded();
  const auto read = parse(to_yaml(written), "c.yaml", problems);
  ASSERT_TRUE(read) << to_string(problems.front());
  expect_near(written, *read);
}

TEST(CalibrationFile, SavesAndLoads) {
  const config::TemporaryFolder folder;
  const std::string path = folder.path("calibration.yaml");
  const Calibration written = rounded();
  ASSERT_TRUE(save(Calibration{}, path));
  ASSERT_TRUE(save(written, path));
  config::Problems problems;
  const auto read = load(path, problems);
  ASSERT_TRUE(read);
  expect_near(written, *read);
  EXPECT_EQ(save(written, folder.path("missing/c.yaml")).error().code, std::errc::no_such_file_or_directory);
}

TEST(CalibrationFile, AMissingFileIsAProblem) {
  config::Problems problems;
  EXPECT_FALSE(load("/nonexistent/c.yaml", problems));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].message, "cannot be opened: No such file or directory");
}

TEST(CalibrationFile, AnEmptyCalibrationIsOne) {
  EXPECT_EQ(problem_of("version: 1\n"), "");
}

TEST(CalibrationFile, ProblemsNameFileLineAndKey) {
  const std::string good =
      "{median_ms: 1, low_ms: 0.9, high_ms: 1.1, samples: 10, measured_at: \"2026-01-31T12:00:00Z\"}";
  struct Row {
    std::string text, problem;
  };
  for (const Row& row : {
           Row{"", "c.yaml: error: nothing where a set of keys is expected"},
           Row{"hosts: []\n", "c.yaml: error: lacks version; version is a number"},
           Row{"version: 2\n", "c.yaml:1:1: error: version: \"2\" is not a number from 1 to 1"},
           Row{"version: 1\nhots: []\n", "c.yaml:2:1: error: hots: unknown key; did you mean hosts?"},
           Row{"version: 1\nhosts: 3\n", "c.yaml:2:1: error: hosts: a single value where a list is expected"},
           Row{"version: 1\nhosts:\n  - name: a\n  - name: a\n",
               "c.yaml:4:5: error: hosts[1]: \"a\" stands here twice"},
           Row{"version: 1\nhosts:\n  - name: \"\"\n",
               "c.yaml:3:5: error: hosts[0].name: is not a name of 1 to 256 bytes"},
           Row{"version: 1\nhosts:\n  - name: a\n    health: {median_ms: x}\n",
               "c.yaml:4:14: error: hosts[0].health.median_ms: \"x\" is not a number from 0 to 3600000"},
           Row{"version: 1\nhosts:\n  - name: a\n    health: {median_ms: -1}\n",
               "c.yaml:4:14: error: hosts[0].health.median_ms: \"-1\" is not a number from 0 to 3600000"},
           Row{"version: 1\nhosts:\n  - name: a\n    health: {median_ms: nan}\n",
               "c.yaml:4:14: error: hosts[0].health.median_ms: \"nan\" is not a number from 0 to 3600000"},
           Row{"version: 1\nroutes:\n  - name: /\n    n_serial: 1\n    n_serial_source: guessed\n",
               "c.yaml:5:5: error: routes[0].n_serial_source: is not configured, observed or counted"},
           Row{"version: 1\nroutes:\n  - name: /\n    hosts: [{name: a}]\n",
               "c.yaml:4:13: error: routes[0].hosts[0]: lacks response; response is a measurement"},
       })
    EXPECT_EQ(problem_of(row.text), row.problem) << row.text;
  EXPECT_EQ(problem_of("version: 1\nhosts:\n  - name: a\n    health: " + good + "\n"), "");
}

TEST(CalibrationFile, IntervalsAreInOrder) {
  EXPECT_EQ(
      problem_of(
          "version: 1\nhosts:\n  - name: a\n    connect: {median_ms: 1, low_ms: 2, high_ms: 3, samples: 9, "
          "measured_at: \"2026-01-31T12:00:00Z\"}\n"),
      "c.yaml:4:5: error: hosts[0].connect: low_ms, median_ms and high_ms are not in order");
}

TEST(CalibrationFile, EveryTruncationIsRefusedOrRead) {
  const std::string whole = to_yaml(sample());
  for (std::size_t cut = 0; cut < whole.size(); ++cut)
    problem_of(whole.substr(0, cut));
}

}  // namespace
}  // namespace sluice::calibration
