#include <cctype>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "telemetry/reference.h"
#include "telemetry/registry.h"

namespace sluice::telemetry {
namespace {

using policy::ClassId;
using policy::ReplicaId;
using namespace std::chrono_literals;

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

Names names() {
  Names names;
  names.classes = {"premium", "say \"hi\"\\\n"};
  names.replicas = {"r0"};
  names.primary = "main";
  names.databases = {"app"};
  names.version = "0.1.0";
  return names;
}

TEST(Exposition, WritesCountersGaugesAndSampledValues) {
  Registry registry(names());
  ThreadMetrics& thread = registry.add_thread();
  thread.count(metric::sessions_rejected_total, RejectReason::QueryWaitTimeout);
  thread.change(metric::sessions, 1, ClassId(0), ReplicaId(0));
  thread.add(metric::query_seconds_total, 1500ms, DatabaseLabel(0));
  registry.add_sampler([](Samples& samples) {
    samples.set(metric::replica_up, 1, ServerLabel::primary());
    samples.set(metric::replica_up, 1, ReplicaId(77));  // not known: left out
  });
  const std::string text = registry.exposition();
  EXPECT_TRUE(has_line(text, "sluice_sessions_rejected_total{reason=\"query_wait_timeout\"} 1")) << text;
  EXPECT_TRUE(has_line(text, "sluice_sessions{class=\"premium\",replica=\"r0\"} 1"));
  EXPECT_TRUE(has_line(text, "sluice_query_seconds_total{database=\"app\"} 1.5"));
  EXPECT_TRUE(has_line(text, "sluice_replica_up{replica=\"main\"} 1"));
  EXPECT_TRUE(has_line(text, "sluice_build_info{version=\"0.1.0\"} 1"));
  EXPECT_TRUE(has_line(text, "# TYPE sluice_sessions gauge"));
  EXPECT_TRUE(has_line(text, "sluice_sessions{class=\"say \\\"hi\\\"\\\\\\n\",replica=\"r0\"} 0"));
}

TEST(Exposition, WritesHistogramsWithCumulativeBucketsInSeconds) {
  Registry registry(names());
  ThreadMetrics& thread = registry.add_thread();
  thread.record(metric::response_seconds, 2ms, ClassId(0), PoolLabel::mixed());
  thread.record(metric::response_seconds, 200s, ClassId(0), PoolLabel::mixed());
  const std::string text = registry.exposition();
  const std::string labels = "{class=\"premium\",pool=\"mixed\"";
  EXPECT_TRUE(has_line(text, "sluice_response_seconds_count" + labels + "} 2")) << text;
  EXPECT_TRUE(has_line(text, "sluice_response_seconds_bucket" + labels + ",le=\"100\"} 1"));
  EXPECT_TRUE(has_line(text, "sluice_response_seconds_bucket" + labels + ",le=\"+Inf\"} 2"));
  EXPECT_EQ(text.find("pool=\"primary\""), std::string::npos);
}

TEST(MetricTable, NamesFollowPrometheusConventions) {
  std::set<std::string_view> seen;
  for (const MetricInfo& metric : metric_table()) {
    EXPECT_TRUE(seen.insert(metric.name).second) << metric.name;
    const bool counter = metric.kind == Kind::Counter || metric.kind == Kind::TimeCounter;
    EXPECT_EQ(metric.name.ends_with("_total"), counter) << metric.name;
    for (const char c : metric.name)
      EXPECT_TRUE((c >= 'a' && c <= 'z') || c == '_') << metric.name;
    if (metric.unit == "seconds" || metric.unit == "bytes") {
      EXPECT_NE(metric.name.find(metric.unit), std::string_view::npos) << metric.name;
    }
    EXPECT_TRUE(metric.help.ends_with('.')) << metric.name;
  }
}

TEST(MetricsReference, IsUpToDate) {
  const char* root = std::getenv("SLUICE_SOURCE_DIR");
  if (root == nullptr) GTEST_SKIP() << "SLUICE_SOURCE_DIR is not set";
  const std::string path = std::string(root) + "/docs/reference/metrics.md";
  if (std::getenv("SLUICE_REGENERATE") != nullptr) std::ofstream(path) << metrics_reference();
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), metrics_reference()) << "run this test with SLUICE_REGENERATE=1 to rewrite " << path;
}

}  // namespace
}  // namespace sluice::telemetry
